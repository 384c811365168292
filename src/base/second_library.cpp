// The loader's list, held against the file that this code is in.
#include "base/second_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string_view>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

/// libham.so, libham.so.0.2, ...; its modules are called otherwise.
bool is_libham(std::string_view file) {
  constexpr std::string_view name = "libham.so";
  file.remove_prefix(file.rfind('/') + 1);
  return file == name || (file.starts_with(name) && file[name.size()] == '.');
}

}  // namespace

std::string second_library(const std::string& own, std::span<const std::string> loaded) {
  if (!is_libham(own)) return {};  // part of a program, or hidden in another library
  for (const std::string& file : loaded) {
    if (is_libham(file) && file != own) return file;
  }
  return {};
}

void expect_one_library() {
  Dl_info about{};
  if (::dladdr(reinterpret_cast<void*>(&expect_one_library), &about) == 0 || about.dli_fname == nullptr) return;
  std::vector<std::string> loaded;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* list) {
        static_cast<std::vector<std::string>*>(list)->emplace_back(object->dlpi_name);
        return 0;
      },
      &loaded);
  const std::string second = second_library(about.dli_fname, loaded);
  if (second.empty()) return;
  throw config_error("two versions of HAM are loaded, " + std::string(about.dli_fname) + " and " + second +
                     " (both would start this job, and their functions in C have the same names); link the program and "
                     "its plug-ins with the same version");
}

}  // namespace ham::base
