// The implicit start: with the linker's --wrap=main, __wrap_main runs instead of main. It lives in a static archive, so
// that the linker finds both names in the application's own link.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "ham/offload/runtime.hpp"

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
int __real_main(int argc, char** argv, char** environment);
int __wrap_main(int argc, char** argv, char** environment);
// NOLINTEND(bugprone-reserved-identifier)

// Defined by ham/offload.hpp in programs that define HAM_EXPLICIT.
extern int ham_explicit_start __attribute__((weak));
}

int __wrap_main(int argc, char** argv, char** environment) {
  if (&ham_explicit_start != nullptr) return __real_main(argc, argv, environment);
  try {
    if (!ham::offload::ham_init(&argc, &argv)) return EXIT_SUCCESS;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ham: %s\n", problem.what());
    return 2;
  }
  const int result = __real_main(argc, argv, environment);
  ham::offload::ham_finalise();
  return result;
}
