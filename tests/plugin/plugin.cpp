// A library with HAM in it, for a program without.
#include <cstdio>
#include <exception>

#include "ham/offload.hpp"

namespace {
int next(int value) { return value + 1; }
}  // namespace

extern "C" int begin(const char* nodes) {
  try {
    ham::runtime_options options;
    options.nodes = nodes;
    const ham::runtime job(options);
    return ham::offload::sync(1, ham::fn<&next>, 1) == 2 ? 0 : 1;
  } catch (const std::exception& problem) {
    std::printf("%s\n", problem.what());
    return 2;
  }
}
