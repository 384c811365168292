// A job of one target, to be run under valgrind.
#include <cstdio>

#include "ham/offload.hpp"

namespace {
int next(int value) { return value + 1; }
}  // namespace

int main() {
  if (ham::offload::sync(1, ham::fn<&next>, 1) == 2) std::puts("a target has answered");
}
