// expect: ham: argument 2 cannot be converted to the parameter of this function
// lines: 15
// The first line says which argument, and no list of candidates follows.
#include <ham/offload.hpp>

#include <string>

int solve(int, const std::string&, double);

int main() { return ham::offload::sync(1, ham::fn<&solve>, 1, 2, 3.0); }
