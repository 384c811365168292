// dlopen of modules.
#include "runtime/module_file.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <vector>

namespace ham::detail {
namespace {

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? std::string(".") : file.substr(0, slash);
}

std::vector<std::string> places(const std::string& file) {
  if (file.find('/') != std::string::npos) return {file};
  std::vector<std::string> result;
  if (const char* const path = std::getenv("HAM_MODULE_PATH")) {
    const std::string all = path;
    for (std::size_t begin = 0; begin <= all.size();) {
      const std::size_t end = std::min(all.find(':', begin), all.size());
      if (end > begin) result.push_back(all.substr(begin, end - begin) + "/" + file);
      begin = end + 1;
    }
  }
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&find_in_module), &here) != 0 && here.dli_fname != nullptr) {
    const std::string folder = folder_of(here.dli_fname);
    result.push_back(folder + "/ham/" + file);
    result.push_back(folder + "/" + file);
  }
  std::array<char, PATH_MAX> program{};
  if (::readlink("/proc/self/exe", program.data(), program.size() - 1) > 0) {
    const std::string folder = folder_of(program.data());
    result.push_back(folder + "/" + file);
    result.push_back(folder + "/../lib/ham/" + file);
    result.push_back(folder + "/../lib/" + file);
  }
  result.push_back(file);
  return result;
}

}  // namespace

void* find_in_module(const std::string& what, const std::string& file, const char* symbol) {
  std::string looked;
  const auto in_vain = [&looked](const std::string& where) {
    if (!looked.empty()) looked.append(", ");
    looked.append(where);
  };
  for (const std::string& place : places(file)) {
    const bool in_folder = place.find('/') != std::string::npos;
    if (in_folder && ::access(place.c_str(), R_OK) != 0) {
      in_vain(folder_of(place));
      continue;
    }
    if (void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return ::dlsym(library, symbol);
    const char* const why = ::dlerror();
    in_vain(why == nullptr ? place : why);
  }
  throw config_error("the " + what + " is not there (module " + file + "; looked in " + looked +
                     "); install it, or name its folder in HAM_MODULE_PATH");
}

}  // namespace ham::detail
