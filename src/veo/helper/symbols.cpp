// dlopen, dlsym, and the table of a statically linked helper.
#include "symbols.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "static_symbols.hpp"

namespace ham::inline v1::veo {
namespace {

std::uint64_t number_of(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }

std::uint64_t linked_symbol(const std::string& name) noexcept {
  const ham_veo_static_symbol* one = ham_veo_static_symbols;
  for (; one != nullptr && one->name != nullptr; ++one) {
    if (name == one->name) return number_of(one->address);
  }
  return 0;
}

void* handle_of(std::uint64_t library) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(library));  // NOLINT: what dlopen has given
}

/// Opens a library. Those of the helper's side that it needs are beside the helper, whose search path the loader does
/// not use for what libraries need: they are opened from here, and stay.
void* open_library(const char* path, std::string& why) {
  const auto open = [&] {
    void* const library = ::dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) why = ::dlerror();
    return library;
  };
  void* library = open();
  for (const char* const own : {"libaveoVE.so.1", "libveohmem.so.1", "libvhcall.so.1"}) {
    if (library != nullptr) break;
    if (why.find(own) != why.npos && ::dlopen(own, RTLD_NOW | RTLD_LOCAL) != nullptr) library = open();
  }
  return library;
}

/// Where a library lies.
struct address_range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};

address_range range_of(void* library) noexcept {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return {};
  address_range found{map->l_addr, 0};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& range = *static_cast<address_range*>(data);
        if (info->dlpi_addr != range.begin) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD) range.bytes = std::max<std::size_t>(range.bytes, part.p_vaddr + part.p_memsz);
        }
        return 1;
      },
      &found);
  return found;
}

/// The next library shall not lie where this one lay: an address of a function that has gone stays invalid.
void keep_empty(address_range range) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (range.bytes + page - 1) / page * page;
  if (range.begin == 0 || bytes == 0) return;
  static_cast<void>(::mmap(handle_of(range.begin), bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0));
}

}  // namespace

std::uint64_t libraries::load(const std::string& path) {
  std::string why;
  void* const library = open_library(path.c_str(), why);
  if (library == nullptr) {
    std::fprintf(stderr, "veo: cannot load %s: %s\n", path.c_str(), why.c_str());
    return 0;
  }
  kernels_.loaded(library);
  std::lock_guard guard(mutex_);
  ++loaded_[number_of(library)];
  return number_of(library);
}

int libraries::unload(std::uint64_t library) {
  bool is_last = false;
  {
    std::lock_guard guard(mutex_);
    const auto found = loaded_.find(library);
    if (found == loaded_.end()) return 1;
    is_last = --found->second == 0;
    if (is_last) loaded_.erase(found);
  }
  if (is_last) kernels_.unloading(handle_of(library), library);
  const address_range range = range_of(handle_of(library));
  const int result = ::dlclose(handle_of(library));
  keep_empty(range);
  return result;
}

std::uint64_t libraries::symbol(std::uint64_t library, const std::string& name) {
  std::uint64_t address = 0;
  if (library == 0) {
    address = linked_symbol(name);
  } else {
    {
      std::lock_guard guard(mutex_);
      if (!loaded_.contains(library)) return 0;
    }
    address = number_of(::dlsym(handle_of(library), name.c_str()));
  }
  if (address != 0) kernels_.named(library, address, name);
  return address;
}

}  // namespace ham::veo
