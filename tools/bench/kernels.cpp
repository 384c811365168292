// Runs the benchmark of MPI kernels under mpirun, once for each spawn that it measures.
#include "kernels.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "../kernels/spawn_watch.hpp"

namespace ham::inline v1::bench {
namespace {

struct plan {
  std::string mpi;
  std::string parents = "2";
  int spawns = 16;
  std::vector<std::string> rest;
};

plan read(int argc, char** argv) {
  plan result;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--parents" && i + 1 < argc)
      result.parents = argv[++i];
    else if (word == "--spawns" && i + 1 < argc)
      result.spawns = std::max(1, std::atoi(argv[++i]));
    else if (word == "--mpi" && i + 1 < argc)
      result.mpi = argv[++i];
    else
      result.rest.push_back(word);
  }
  return result;
}

// The launcher that has the name of its MPI behind it, as Debian's have, or the only one.
std::string launcher_of(const std::string& mpi) {
  if (const char* named = std::getenv("HAM_MPIRUN")) return named;
  const char* path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::filesystem::path candidate =
        std::filesystem::path(folders.substr(begin, end - begin)) / ("mpirun." + mpi);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return "mpirun";
}

void allow_root_and_many() {
  for (const char* name :
       {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe",
        "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    ::setenv(name, "1", 0);
  }
  ::setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
}

/// One run for each spawn, because a second one in the same run may hang; the last run measures the rest as well.
int run_all(int spawns, std::vector<std::string> words) {
  std::vector<std::string> alone = words;
  alone.emplace_back("--only-spawn");
  const bool help = std::find(words.begin(), words.end(), "--help") != words.end();
  for (int i = 1; i < spawns && !help; ++i) {
    const kernels::spawn_result one = kernels::run_spawning({.command = alone, .capture = true});
    if (one.status != 0) {
      std::cerr << one.output;
      return one.status;
    }
    words.insert(words.end(), {"--spawned-in-us", std::to_string(std::strtod(one.output.c_str(), nullptr))});
  }
  return kernels::run_spawning({.command = words}).status;
}

}  // namespace

int run_kernels(int argc, char** argv) {
  plan what = read(argc, argv);
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const char* candidate : {"openmpi", "mpich"}) {
    if (what.mpi.empty() && exists(folder / (std::string("ham-bench-kernels-") + candidate))) what.mpi = candidate;
  }
  const auto program = folder / ("ham-bench-kernels-" + what.mpi);
  if (!exists(program)) {
    std::cerr << "ham-bench: " << program.string()
              << " is not there (this build has no MPI, or not that one): install libopenmpi-dev and libffi-dev and "
                 "build again\n";
    return EXIT_FAILURE;
  }
  allow_root_and_many();
  std::vector<std::string> words{launcher_of(what.mpi), "-n", what.parents, program};
  words.insert(words.end(), what.rest.begin(), what.rest.end());
  try {
    return run_all(what.spawns, words);
  } catch (const std::exception& problem) {
    std::cerr << "ham-bench: cannot start " << words[0] << ": " << problem.what()
              << " (HAM_MPIRUN names the launcher)\n";
    return EXIT_FAILURE;
  }
}

}  // namespace ham::bench
