// What a node says of itself and of others.
#include "runtime/engine.hpp"

namespace ham::detail {

std::vector<node_t> engine::ready_nodes() const {
  std::vector<node_t> result;
  peers_.for_each_held([&](const peer& one) {
    if (one.node != self_ && one.state.load(std::memory_order_acquire) == peer_state::ready) result.push_back(one.node);
  });
  return result;
}

std::size_t engine::living_nodes() const noexcept {
  std::size_t count = 0;
  peers_.for_each_held([&](const peer& one) {
    const peer_state state = one.state.load(std::memory_order_relaxed);
    if (state != peer_state::unknown && state != peer_state::lost) ++count;
  });
  return count;
}

std::string engine::address_of(node_t node) const {
  const peer_hold who = peers_.hold(node);
  return who ? who->about.address() : std::string();
}

offload::statistics engine::statistics() const {
  offload::statistics result;
  const peer_traffic all = peers_.traffic();
  result.calls_sent = all.calls_sent;
  result.bytes_sent = all.bytes_sent;
  result.bytes_received = all.bytes_received;
  result.calls_executed = dispatcher_.calls_executed();
  result.bytes_put = bytes_put_.load();
  result.bytes_got = bytes_got_.load();
  result.sleeps = waiter_.sleeps();
  return result;
}

offload::node_descriptor engine::describe(node_t node) {
  notice_losses();
  return offload::node_descriptor(peer_of(node)->about.description());
}

bool engine::alive(node_t node) {
  if (node == self_) return true;
  notice_losses();
  try {
    static_cast<void>(peer_of(node));
    return true;
  } catch (const node_failure&) {
    return false;
  }
}

}  // namespace ham::detail
