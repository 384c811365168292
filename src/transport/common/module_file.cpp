// dlopen of modules.
#include "transport/common/module_file.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/privileges.hpp"
#include "base/program_file.hpp"
#include "base/settings.hpp"

namespace ham::inline v1::transport {
namespace {

std::string folder_of(const std::string& file) { return file.substr(0, file.rfind('/')); }

/// The folders of HAM_MODULE_PATH. A relative one would be another one after a chdir.
std::vector<std::string> named_folders() {
  const std::string all = base::text_of(base::setting::module_path);
  std::vector<std::string> result;
  if (all.empty()) return result;
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find(':', begin), all.size());
    const std::string folder = all.substr(begin, end - begin);
    if (!folder.empty() && folder.front() != '/') {
      throw config_error("HAM_MODULE_PATH=" + all + " has the relative folder " + folder +
                         " (which folder that is depends on the current one); write absolute folders");
    }
    if (!folder.empty()) result.push_back(folder);
    begin = end + 1;
  }
  return result;
}

/// The file that this code was loaded from, by the kernel's word: what the loader remembers may be relative, or
/// argv[0]. Empty if the kernel does not say.
std::string own_file() {
  const auto here = reinterpret_cast<std::uintptr_t>(&find_in_module);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char* rest = nullptr;
    const auto begin = static_cast<std::uintptr_t>(std::strtoull(line.c_str(), &rest, 16));
    if (*rest != '-') continue;
    const auto end = static_cast<std::uintptr_t>(std::strtoull(rest + 1, nullptr, 16));
    const std::size_t path = line.find('/');
    if (here >= begin && here < end) return path == std::string::npos ? std::string() : line.substr(path);
  }
  return {};
}

std::string program_file() {
  std::array<char, PATH_MAX> program{};
  return ::readlink("/proc/self/exe", program.data(), program.size() - 1) > 0 ? program.data() : std::string();
}

/// Where the library may be, all but the last one absolute; that one is a bare name, for the system's search.
std::vector<std::string> places(const std::string& file) {
  if (file.find('/') != std::string::npos) return {file};
  std::vector<std::string> result;
  for (const std::string& folder : named_folders()) result.push_back(folder + "/" + file);
  const std::string program = program_file();
  const std::string own = own_file();
  if (own.starts_with('/')) {
    result.push_back(folder_of(own) + "/ham/" + file);
    result.push_back(folder_of(own) + "/" + file);
  }
  if (program.starts_with('/')) {
    result.push_back(folder_of(program) + "/" + file);
    result.push_back(folder_of(program) + "/../lib/ham/" + file);
    result.push_back(folder_of(program) + "/../lib/" + file);
  }
  result.push_back(file);
  return result;
}

/// What to load for this place; empty, with the reason, if nothing there can be used. Who has hard-linked a privileged
/// program into a folder of their own must not choose its modules.
std::string usable(const std::string& place, std::string& why_not) {
  if (place.find('/') == std::string::npos) return place;
  why_not = folder_of(place);
  if (::access(place.c_str(), R_OK) != 0) return {};
  if (!base::privileged()) return place;
  std::array<char, PATH_MAX> real{};
  if (::realpath(place.c_str(), real.data()) == nullptr) return {};
  if (base::only_root_can_replace(real.data())) return real.data();
  why_not += " (not used: this program has privileges, and others than root can change the module)";
  return {};
}

}  // namespace

void* find_in_module(const std::string& what, const std::string& file, const char* symbol) {
  if (base::is_fully_static()) {
    throw config_error(
        "the " + what + " is not there (this program was linked with -static, and the module " + file +
        " would bring a second C library into it); link dynamically; only tcp can be taken in as a static "
        "library, ham::tcp_static");
  }
  std::string looked;
  const auto in_vain = [&looked](const std::string& where) {
    if (!looked.empty()) looked.append(", ");
    looked.append(where);
  };
  for (const std::string& place : places(file)) {
    std::string why_not;
    const std::string load = usable(place, why_not);
    if (load.empty()) {
      in_vain(why_not);
      continue;
    }
    if (void* const library = ::dlopen(load.c_str(), RTLD_NOW | RTLD_LOCAL)) return ::dlsym(library, symbol);
    const char* const why = ::dlerror();
    in_vain(why == nullptr ? place : why);
  }
  throw config_error("the " + what + " is not there (module " + file + "; looked in " + looked +
                     "); install it, or name its folder in HAM_MODULE_PATH");
}

}  // namespace ham::transport
