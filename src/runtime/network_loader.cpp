// Network modules: dlopen, and those that are part of the program.
#include "runtime/network_loader.hpp"

#include <map>
#include <mutex>

#include "ham/offload/runtime.hpp"
#include "runtime/group_loader.hpp"
#include "runtime/module_file.hpp"

namespace ham::detail {

namespace {

std::mutex mutex;

/// Made when it is first needed, which may be before main; never destroyed: used also while the process ends.
auto& known_modules() {
  static auto& all = *new std::map<std::string, transport::network_module*>;
  return all;
}

}  // namespace

transport::network_module& load_network(const std::string& name) {
  std::lock_guard guard(mutex);
  transport::network_module*& one = known_modules()[name];
  if (one == nullptr) {
    one = open_module<transport::network_module_entry>("transport " + name, "libham_" + name + ".so",
                                                       "ham_network_module", transport::module_interface);
  }
  return *one;
}

}  // namespace ham::detail

void ham::transport::add_network_module(network_module& one) {
  std::lock_guard guard(detail::mutex);
  detail::known_modules()[one.name()] = &one;
}

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
