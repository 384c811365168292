// ham-kernel-host LIBRARY...: children whose kernels are in shared libraries.
#include <ham/mpix_kernel.h>
#include <ham/offload/detail/standard_descriptors.hpp>

#include <cstdio>
#include <cstring>

namespace {

int usage() {
  std::puts(
      "ham-kernel-host LIBRARY...\n"
      "\n"
      "Runs MPI kernels out of shared libraries: give it to MPI_Comm_spawn as the command, the libraries as its "
      "arguments.\n"
      "A library is a path, or a name to be looked for as the loader does (LD_LIBRARY_PATH). See docs/mpix.md.");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) return usage();
  for (int i = 1; i < argc; ++i) {
    if (MPIX_Kernel_library(argv[i]) != MPI_SUCCESS) return 1;
  }
  return MPIX_Kernel_main(argc, argv);
}
