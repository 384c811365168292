// What the list of transports says to programs.
#include "compose/transports.hpp"
#include "ham/offload/runtime.hpp"
#include "ham/offload/transports.hpp"

namespace ham::inline v1 {

std::vector<transport_info> list_transports() {
  std::vector<transport_info> result;
  for (const transport::factory* const one : detail::transports()) {
    const transport::help_line help = one->help();
    if (help.syntax.empty()) continue;
    transport::availability state = one->probe();
    result.push_back({std::string(one->name()), std::string(help.syntax), std::string(help.meaning), state.available,
                      std::move(state.remark), std::move(state.version), one->trial()});
  }
  return result;
}

module_state find_module(const std::string& transport) {
  const transport::factory* const one = detail::find_transport(transport);
  if (one == nullptr)
    return {false, "there is no transport " + transport + "; --ham-help lists those that there are", {}};
  transport::availability state = one->probe();
  return {state.available, std::move(state.remark), std::move(state.version)};
}

}  // namespace ham
