// Loads a library and begins a job in it, as an interpreter does: program LIBRARY NODES
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* const library = argc == 3 ? ::dlopen(argv[1], RTLD_NOW) : nullptr;
  if (library == nullptr) {
    std::printf("%s\n", argc == 3 ? ::dlerror() : "usage: program LIBRARY NODES");
    return 3;
  }
  return reinterpret_cast<int (*)(const char*)>(::dlsym(library, "begin"))(argv[2]);
}
