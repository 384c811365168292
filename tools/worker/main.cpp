// ham-worker: a target for any host. Its functions are those of the libraries that it loads.
// link: ham::ham
#include <ham/offload.hpp>
#include <ham/offload/detail/standard_descriptors.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <vector>

namespace {

constexpr const char* usage =
    "usage: ham-worker [--load LIBRARY]... [HAM's own options]\n"
    "A target for hosts that are other programs. It executes functions of the libraries that it loads: those on its\n"
    "command line before it joins, others when the host asks for them (offload::load_library, ham_load_library).\n"
    "  HAM_NODES=exec:ham-worker ./host               started by the host, which loads the libraries\n"
    "  HAM_NODES='exec:ham-worker --ham-load=./kernels.so' ./host    with a library\n"
    "  ham-worker --load ./kernels.so --ham-serve=127.0.0.1:7000    waits for hosts\n"
    "  mpirun -n 1 ./host : -n 3 ham-worker --load ./kernels.so     ranks of a host\n";

/// The libraries of --load and --ham-load, which are taken off the command line. A host gives its targets its own
/// command line: to them a --load is not meant, while no host has an option --ham-load.
std::vector<const char*> take_libraries(int& argc, char** argv, bool by_hand) {
  constexpr std::string_view option = "--load";
  constexpr std::string_view of_targets = "--ham-load";
  std::vector<const char*> libraries;
  int kept = 1;
  for (int at = 1; at < argc; ++at) {
    const std::string_view word = argv[at];
    const std::string_view name = word.substr(0, word.find('='));
    if (name != of_targets && !(by_hand && name == option))
      argv[kept++] = argv[at];
    else if (name.size() < word.size())
      libraries.push_back(argv[at] + name.size() + 1);
    else if (at + 1 < argc)
      libraries.push_back(argv[++at]);
    else
      argv[kept++] = argv[at];
  }
  argc = kept;
  argv[argc] = nullptr;
  return libraries;
}

/// Whether somebody has started this process as a target, or it is to wait for hosts. As a host it has nothing to do.
bool is_target(int argc, char** argv) {
  for (int at = 1; at < argc; ++at)
    if (std::string_view(argv[at]).starts_with("--ham-serve")) return true;
  if (std::getenv("HAM_TARGET") != nullptr) return true;
  for (const char* const rank : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const char* const text = std::getenv(rank);
    if (text != nullptr && std::strcmp(text, "0") != 0) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  const std::vector<const char*> libraries = take_libraries(argc, argv, std::getenv("HAM_TARGET") == nullptr);
  if (!is_target(argc, argv)) {
    std::fputs(usage, argc > 1 && std::string_view(argv[1]) == "--help" ? stdout : stderr);
    return argc > 1 && std::string_view(argv[1]) == "--help" ? 0 : 2;
  }
  for (const char* const path : libraries) {
    if (::dlopen(path, RTLD_NOW | RTLD_LOCAL) != nullptr) continue;
    std::fprintf(stderr, "ham-worker: the library %s cannot be loaded: %s\n", path, ::dlerror());
    return 2;
  }
  try {
    const ham::runtime job(argc, argv);  // serves, and leaves the process
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ham-worker: %s\n", problem.what());
    return 1;
  }
  return 0;
}
