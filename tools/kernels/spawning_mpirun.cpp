// spawning_mpirun LAUNCHER WORD...: a launcher whose program spawns once, repeated if Open MPI loses a spawned process.
#include <cstdio>
#include <exception>

#include "spawn_watch.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "spawning_mpirun LAUNCHER WORD...\n");
    return 2;
  }
  try {
    return ham::kernels::run_spawning({{argv + 1, argv + argc}}).status;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "spawning_mpirun: %s\n", problem.what());
    return 1;
  }
}
