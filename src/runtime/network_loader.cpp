// dlopen of network modules.
#include "runtime/network_loader.hpp"

#include <map>
#include <mutex>

#include "ham/offload/runtime.hpp"
#include "runtime/group_loader.hpp"
#include "runtime/module_file.hpp"

namespace ham::detail {

transport::network_module& load_network(const std::string& name) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, transport::network_module*>;  // also while the process ends
  std::lock_guard guard(mutex);
  transport::network_module*& one = loaded[name];
  if (one == nullptr) {
    one = open_module<transport::network_module_entry>("transport " + name, "libham_" + name + ".so",
                                                       "ham_network_module", transport::module_interface);
  }
  return *one;
}

}  // namespace ham::detail

namespace ham {

module_state look_for_module(const std::string& transport) {
  try {
    if (transport == "mpi") return {true, {}, detail::load_group_module().version()};
    const transport::network_module& module = detail::load_network(transport);
    const std::string why = module.why_insecure();
    return {true, why.empty() ? why : "without keys and encryption: " + why, module.secured_by()};
  } catch (const std::exception& problem) {
    return {false, problem.what(), {}};
  }
}

}  // namespace ham
