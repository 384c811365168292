// expect: ham: wrong number of arguments for this function
// lines: 15
// Default arguments are no part of a function's type.
#include <ham/offload.hpp>

int solve(int, double = 1.0);

int main() { return ham::offload::sync(1, ham::fn<&solve>, 1); }
