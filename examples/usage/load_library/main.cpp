// load_library: a plug-in that the program finds while the job runs, and whose functions run on other nodes.
// expect: node 1 has got [1-9][0-9]* functions?
// expect: 1\^2 \+ \.\.\. \+ 10\^2 = 385
// expect: unloaded: the library of the function was unloaded
#include <dlfcn.h>
#include <ham/offload.hpp>
#include <ham/offload/library.hpp>

#include <filesystem>
#include <iostream>

using namespace ham;

int main() {
  // Beside this program.
  const std::string path = std::filesystem::canonical("/proc/self/exe").parent_path() / "load_library_kernels.so";

  // Here, to find what calls the function; on node 1, where the function runs.
  const offload::library mine = offload::load_library(0, path);
  const offload::library there = offload::load_library(1, path);
  const std::size_t count = there.functions().size();
  std::cout << "node 1 has got " << count << (count == 1 ? " function\n" : " functions\n");

  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  const auto sum_of_squares_on = reinterpret_cast<double (*)(int, int)>(::dlsym(handle, "sum_of_squares_on"));
  if (sum_of_squares_on == nullptr) return 1;
  std::cout << "1^2 + ... + 10^2 = " << sum_of_squares_on(1, 10) << '\n';

  offload::unload_library(there);
  try {
    std::cout << sum_of_squares_on(1, 10) << '\n';
  } catch (const call_error& gone) {
    std::cout << "unloaded: " << gone.what() << '\n';
  }
  ::dlclose(handle);
}
