// Network modules: dlopen, and those that are part of the program.
#include "transport/common/network_modules.hpp"

#include <map>
#include <mutex>

#include "transport/common/module_file.hpp"

namespace ham::inline v1::transport {
namespace {

std::mutex mutex;

/// Made when it is first needed, which may be before main; never destroyed: used also while the process ends.
auto& known_modules() {
  static auto& all = *new std::map<std::string, network_module*>;
  return all;
}

}  // namespace

network_module& load_network_module(const std::string& name) {
  std::lock_guard guard(mutex);
  network_module*& one = known_modules()[name];
  if (one == nullptr) {
    one = open_module<network_module_entry>("transport " + name, "libham_" + name + ".so", "ham_network_module",
                                            module_interface);
  }
  return *one;
}

void add_network_module(network_module& one) {
  std::lock_guard guard(mutex);
  known_modules()[one.name()] = &one;
}

}  // namespace ham::transport
