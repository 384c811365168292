// expect: ham: argument 2 cannot be converted to the parameter of this function
// lines: 15
// The same in the papers' spelling.
#include <ham/offload.hpp>

#include <string>

int solve(int, const std::string&, double);

int main() { return ham::offload::async(1, f2f(&solve, 1, 2, 3.0)).get(); }
