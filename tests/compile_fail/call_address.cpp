// expect: ham: the address of a function means nothing in another process; write ham::fn<&function>
// lines: 15
// The way out is named.
#include <ham/offload.hpp>

int solve(int);

int main() { return ham::offload::sync(1, &solve, 1); }
