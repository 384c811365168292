// expect: ham: the result of this function cannot cross to another node: it is a raw pointer
// lines: 15
// What the result points to stays behind.
#include <ham/offload.hpp>

const char* name(int);

int main() { ham::offload::sync(1, ham::fn<&name>, 1); }
