// expect: ham: a bool is not the number of a node
// lines: 15
// true would be node 1.
#include <ham/offload.hpp>

int solve();

int main() { return ham::offload::sync(true, ham::fn<&solve>); }
