// dlopen of network modules.
#include "runtime/network_loader.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "ham/offload/runtime.hpp"

namespace ham::detail {
namespace {

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? std::string(".") : file.substr(0, slash);
}

std::vector<std::string> places(const std::string& file) {
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
  if (::dladdr(reinterpret_cast<const void*>(&load_network), &here) != 0 && here.dli_fname != nullptr) {
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

transport::network_module& open_module(const std::string& name) {
  const std::string file = "libham_" + name + ".so";
  std::string looked;
  for (const std::string& place : places(file)) {
    const bool in_folder = place.find('/') != std::string::npos;
    if (in_folder && ::access(place.c_str(), R_OK) != 0) {
      looked += (looked.empty() ? "" : ", ") + folder_of(place);
      continue;
    }
    void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const why = ::dlerror();
      looked += (looked.empty() ? "" : ", ") + std::string(why == nullptr ? place.c_str() : why);
      continue;
    }
    const auto entry = reinterpret_cast<transport::network_module_entry>(::dlsym(library, "ham_network_module"));
    transport::network_module* const module = entry == nullptr ? nullptr : entry(transport::module_interface);
    if (module == nullptr) {
      throw config_error("the module " + place + " is of another release of HAM; install both from the same one");
    }
    return *module;
  }
  throw config_error("the transport " + name + " is not there (module " + file + "; looked in " + looked +
                     "); install it, or name its folder in HAM_MODULE_PATH");
}

}  // namespace

transport::network_module& load_network(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, transport::network_module*> loaded;
  std::lock_guard guard(mutex);
  transport::network_module*& one = loaded[name];
  if (one == nullptr) one = &open_module(name);
  return *one;
}

}  // namespace ham::detail

namespace ham {

module_state look_for_module(const std::string& transport) {
  try {
    const std::string why = detail::load_network(transport).why_insecure();
    return {true, why.empty() ? why : "without keys and encryption: " + why};
  } catch (const std::exception& problem) {
    return {false, problem.what()};
  }
}

}  // namespace ham
