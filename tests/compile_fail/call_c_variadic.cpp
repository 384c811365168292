// expect: ham: a function with C variadic arguments (...) cannot be called on another node
// lines: 15
// Nobody knows the types of what stands behind the dots.
#include <ham/offload.hpp>

#include <cstdio>

int main() { return ham::offload::sync(1, ham::fn<&std::printf>, "text"); }
