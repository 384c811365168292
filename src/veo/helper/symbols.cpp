// dlopen, dlsym, and the table of a statically linked helper.
#include "symbols.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

extern "C" {

/// What mk_veorun_static writes; ends with a name that is NULL.
struct ham_veo_static_symbol {
  const char* name;
  void* address;
};
[[gnu::weak]] extern const ham_veo_static_symbol ham_veo_static_symbols[];
}

namespace ham::veo {
namespace {

std::uint64_t number_of(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }

std::uint64_t linked_symbol(const std::string& name) noexcept {
  const ham_veo_static_symbol* one = ham_veo_static_symbols;
  for (; one != nullptr && one->name != nullptr; ++one) {
    if (name == one->name) return number_of(one->address);
  }
  return 0;
}

}  // namespace

std::uint64_t libraries::load(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    std::fprintf(stderr, "veo: cannot load %s: %s\n", path.c_str(), ::dlerror());
    return 0;
  }
  std::lock_guard guard(mutex_);
  ++loaded_[number_of(library)];
  return number_of(library);
}

int libraries::unload(std::uint64_t library) {
  {
    std::lock_guard guard(mutex_);
    const auto found = loaded_.find(library);
    if (found == loaded_.end()) return 1;
    if (--found->second == 0) loaded_.erase(found);
  }
  return ::dlclose(reinterpret_cast<void*>(static_cast<std::uintptr_t>(library)));  // NOLINT: a handle of dlopen
}

std::uint64_t libraries::symbol(std::uint64_t library, const std::string& name) {
  if (library == 0) return linked_symbol(name);
  {
    std::lock_guard guard(mutex_);
    if (!loaded_.contains(library)) return 0;
  }
  return number_of(::dlsym(reinterpret_cast<void*>(static_cast<std::uintptr_t>(library)), name.c_str()));
}

}  // namespace ham::veo
