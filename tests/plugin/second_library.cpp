// A program that is linked with HAM and loads another file of it: second_library FILE.
#include <dlfcn.h>

#include <cstdio>

#include "ham/offload.hpp"

int main(int argc, char** argv) {
  if (argc != 2 || ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::printf("the library cannot be loaded: %s\n", ::dlerror());
    return 2;
  }
  try {
    ham::runtime_options options;
    options.nodes = "loopback:1";
    const ham::runtime job(options);
    std::puts("it has started");
    return 1;
  } catch (const ham::config_error& error) {
    std::puts(error.what());
    return 0;
  }
}
