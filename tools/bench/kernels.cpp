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

constexpr int max_bare_spawns = 16;

/// What runs that spawn have printed, as options of the last run.
class spawn_runs {
 public:
  explicit spawn_runs(const std::vector<std::string>& words) : alone_(words) { alone_.emplace_back("--only-spawn"); }

  /// Gives the exit status; says what went wrong.
  int add(bool bare) {
    std::vector<std::string> command = alone_;
    if (bare) command.emplace_back("--bare");
    const kernels::spawn_result one = kernels::run_spawning({.command = command, .capture = true});
    if (one.status != 0) std::cerr << one.output;
    options_.insert(options_.end(), {bare ? "--spawned-bare-in-us" : "--spawned-in-us",
                                     std::to_string(std::strtod(one.output.c_str(), nullptr))});
    return one.status;
  }
  [[nodiscard]] const std::vector<std::string>& options() const { return options_; }

 private:
  std::vector<std::string> alone_;
  std::vector<std::string> options_;
};

/// One run for each spawn, because a second one in the same run may hang, in turns with bare spawns; the last run
/// measures the rest as well.
int run_all(int spawns, std::vector<std::string> words) {
  if (std::find(words.begin(), words.end(), "--help") == words.end()) {
    spawn_runs runs(words);
    const int between = (spawns + max_bare_spawns - 1) / max_bare_spawns;
    for (int i = 0; i < spawns; ++i) {
      int status = i % between == 0 ? runs.add(true) : 0;
      if (status == 0 && i + 1 < spawns) status = runs.add(false);
      if (status != 0) return status;
    }
    words.insert(words.end(), runs.options().begin(), runs.options().end());
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
