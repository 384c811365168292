#include "core/peer_table.hpp"

namespace ham::inline v1::detail {

std::vector<node_t> peer_table::ready_nodes(node_t self) const {
  std::vector<node_t> result;
  for_each_held([&](const peer& one) {
    if (one.node != self && one.state.load(std::memory_order_acquire) == peer_state::ready) result.push_back(one.node);
  });
  return result;
}

std::size_t peer_table::living_nodes() const noexcept {
  std::size_t count = 0;
  for_each_held([&](const peer& one) {
    const peer_state state = one.state.load(std::memory_order_relaxed);
    if (state != peer_state::unknown && state != peer_state::lost) ++count;
  });
  return count;
}

std::string peer_table::address_of(node_t node) const {
  const peer_hold who = hold(node);
  return who ? who->about.address() : std::string();
}

bool peer_table::expect(node_t node) {
  if (node < 0 || static_cast<std::size_t>(node) >= size()) return false;
  peer_state expected = peer_state::unknown;
  peer* const who = claim(node);
  return who != nullptr && who->state.compare_exchange_strong(expected, peer_state::connecting);
}

}  // namespace ham::detail
