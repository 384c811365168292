// MPIX_Kernel_library and MPIX_Kernel_main: the life of a child.
#include "mpix/kernel_objects.hpp"
#include "mpix/mpi/child.hpp"

#include <ham/mpix_kernel.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

int serve_parents() {
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  if (parents == MPI_COMM_NULL) {
    std::fprintf(stderr, "ham: this program runs kernels for others: it is started by MPI_Comm_spawn, not by hand\n");
    MPI_Finalize();
    return 2;
  }
  ham::mpix::child child(parents);
  child.serve();
  child.leave();
  MPI_Finalize();
  return 0;
}

}  // namespace

extern "C" int MPIX_Kernel_library(const char* path) {
  try {
    const std::string why = path == nullptr ? "no name of a library" : ham::mpix::offer_library(path);
    if (why.empty()) return MPI_SUCCESS;
    std::fprintf(stderr, "ham: cannot load a library of kernels: %s\n", why.c_str());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ham: cannot load a library of kernels: %s\n", problem.what());
  }
  return MPI_ERR_ARG;
}

extern "C" int MPIX_Kernel_main(int argc, char** argv) {
  int is_initialised = 0;
  MPI_Initialized(&is_initialised);
  int provided = 0;
  if (is_initialised == 0) MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    return serve_parents();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ham: a child cannot go on: %s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
}
