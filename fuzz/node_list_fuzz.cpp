// HAM_NODES, lists of cores and addresses.
// fuzz: -max_len=256 -dict=DIR/node_list.dict
#include "runtime/node_list.hpp"

#include "ham/error.hpp"
#include "input.hpp"

using namespace ham;
using namespace ham::detail;

namespace {

void check_cores(const std::vector<int>& cores) {
  for (const int core : cores) fuzz::require(core >= 0 && core < 4096, "a core that cannot be");
}

constexpr std::string_view transports[] = {"exec", "tcp",   "shm", "loopback", "emulated",
                                           "veo",  "vedma", "mpi", "parent"};

void nodes(std::string_view text) {
  std::size_t total = 0;
  for (const node_group& one : parse_nodes(text)) {
    total += one.count;
    check_cores(one.cpus);
    const bool exec = one.transport == "exec";
    const bool tcp = one.transport == "tcp";
    fuzz::require(std::ranges::find(transports, one.transport) != std::end(transports), "another transport");
    fuzz::require(exec == !one.command.empty() && tcp == !one.address.empty(), "another kind of group");
    fuzz::require(one.settings.empty() || one.transport == "emulated", "settings of what has none");
    if (tcp) fuzz::require(split_address(one.address).second != 0, "no address");
    for (const std::string& word : one.command) fuzz::require(word.find('\0') == std::string::npos, "a zero byte");
  }
  fuzz::require(total <= 4000, "more targets than there may be");
}

}  // namespace

HAM_FUZZ(from) {
  const std::string_view text = from.text();
  for (const char separator : {',', '+'}) {
    try {
      check_cores(parse_cores(text, separator));
    } catch (const config_error&) {
      continue;
    }
  }
  const auto [host, port] = split_address(text);
  fuzz::require(host.empty() == (port == 0), "half an address");
  try {
    nodes(text);
  } catch (const config_error&) {
    return;
  }
}
