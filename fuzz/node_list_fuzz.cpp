// HAM_NODES, lists of cores and addresses.
// fuzz: -max_len=256 -dict=DIR/node_list.dict
#include "job/node_list.hpp"

#include "base/core_list.hpp"
#include "compose/transports.hpp"
#include "ham/error.hpp"
#include "input.hpp"
#include "transport/network_address.hpp"

using namespace ham;
using namespace ham::detail;

namespace {

void check_cores(const std::vector<int>& cores) {
  for (const int core : cores) fuzz::require(core >= 0 && core < 4096, "a core that cannot be");
}

void nodes(std::string_view text) {
  std::size_t total = 0;
  for (const target_group& one : parse_nodes(text)) {
    total += one.count;
    check_cores(one.cores);
    fuzz::require(one.by != nullptr && find_transport(one.by->name()) == one.by, "another transport");
    for (const std::string& word : one.program.command)
      fuzz::require(word.find('\0') == std::string::npos, "a zero byte");
  }
  fuzz::require(total <= 4000, "more targets than there may be");
}

}  // namespace

HAM_FUZZ(from) {
  const std::string_view text = from.text();
  for (const char separator : {',', '+'}) {
    try {
      check_cores(base::parse_cores(text, separator));
    } catch (const config_error&) {
      continue;
    }
  }
  if (const auto at = transport::network_address::parse(text)) {
    fuzz::require(!at->host.empty() && at->port != 0, "half an address");
    fuzz::require(transport::network_address::parse(at->text()) == at, "an address that changes when it is written");
  }
  try {
    nodes(text);
  } catch (const config_error&) {
    return;
  }
}
