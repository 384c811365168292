// dlsym, and a check of where what it found comes from.
#include "mpix/kernel_objects.hpp"

#include "mpix/refusal.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <mutex>
#include <vector>

namespace ham::inline v1::mpix {
namespace {

struct library {
  void* handle;
  link_map* file;
};

std::mutex offered_mutex;
// Never destroyed: a kernel may run while the process ends.
auto& offered = *new std::vector<library>;

std::vector<library> offered_libraries() {
  std::lock_guard guard(offered_mutex);
  return offered;
}

/// The file that defines what is at the address; nullptr for what a program has of a library's function (its address in
/// the program's own table of calls).
link_map* file_that_defines(const std::string& name, void* address) {
  Dl_info where{};
  void* extra = nullptr;
  if (::dladdr1(address, &where, &extra, RTLD_DL_SYMENT) != 0 && extra != nullptr) {
    const auto* symbol = static_cast<const ElfW(Sym)*>(extra);
    if (symbol->st_shndx == SHN_UNDEF) return nullptr;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT)
      throw refusal(failure::unknown, "\"" + name + "\" is a variable, not a function");
  }
  extra = nullptr;
  if (::dladdr1(address, &where, &extra, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<link_map*>(extra);
}

bool is_program(const link_map* file) { return file->l_name == nullptr || file->l_name[0] == '\0'; }

/// Whether the same file says the types of this kernel.
bool is_registered(const std::string& name, const link_map* file) {
  void* const types = ::dlsym(RTLD_DEFAULT, ("mpix_kernel_parameters_" + name).c_str());
  if (types == nullptr) return false;
  Dl_info where{};
  void* extra = nullptr;
  return ::dladdr1(types, &where, &extra, RTLD_DL_LINKMAP) != 0 && extra == file;
}

}  // namespace

std::string offer_library(const char* name) {
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  link_map* file = nullptr;
  if (handle == nullptr || ::dlinfo(handle, RTLD_DI_LINKMAP, &file) != 0) {
    const char* const why = ::dlerror();
    return why == nullptr ? std::string("cannot load ") + name : why;
  }
  std::lock_guard guard(offered_mutex);
  offered.push_back({handle, file});
  return {};
}

found_function find_function(const std::string& name) {
  found_function result;
  if (void* const address = ::dlsym(RTLD_DEFAULT, name.c_str())) {
    link_map* const file = file_that_defines(name, address);
    if (file != nullptr && (is_program(file) || is_registered(name, file))) return {address, file, {}};
    result.elsewhere = file == nullptr ? "a library of the system" : file->l_name;
  }
  // A library of the system may have a function of the same name in front of it.
  for (const library& one : offered_libraries()) {
    void* const address = ::dlsym(one.handle, name.c_str());
    if (address != nullptr && file_that_defines(name, address) == one.file) return {address, one.file, {}};
  }
  return result;
}

}  // namespace ham::mpix
