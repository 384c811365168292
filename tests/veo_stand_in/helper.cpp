// The process in place of a Vector Engine: loads libraries and calls one function, until its host has gone.
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "veo_stand_in/messages.hpp"

using namespace ham::test::veo_stand_in;

namespace {

std::atomic<int> running{0};

std::uint64_t load(const char* path) {
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) std::fprintf(stderr, "veo stand-in: %s\n", ::dlerror());
  return reinterpret_cast<std::uint64_t>(library);
}

std::uint64_t call(std::uint64_t address, std::uint64_t argument) {
  ++running;
  std::thread([address, argument] {
    reinterpret_cast<std::uint64_t (*)(std::uint64_t)>(address)(argument);
    --running;
  }).detach();
  return 1;
}

std::uint64_t obey(const request& what) {
  switch (what.what) {
    case order::load: return load(what.text);
    case order::symbol: return reinterpret_cast<std::uint64_t>(::dlsym(reinterpret_cast<void*>(what.first), what.text));
    case order::allocate: return reinterpret_cast<std::uint64_t>(std::calloc(what.first, 1));
    case order::call: return call(what.first, what.second);
    case order::finished: return running.load() != 0 ? 1 : 2;
  }
  return 0;
}

}  // namespace

int main() {
  request what;
  while (::recv(STDIN_FILENO, &what, sizeof what, 0) == sizeof what) {
    const std::uint64_t answer = obey(what);
    if (::send(STDIN_FILENO, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) break;
  }
  ::_exit(0);
}
