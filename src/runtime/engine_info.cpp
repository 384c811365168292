// What a node says of itself and of others.
#include "runtime/engine.hpp"

namespace ham::detail {

offload::statistics engine::statistics() const {
  offload::statistics result;
  const peer_traffic all = peers_.traffic();
  result.calls_sent = all.calls_sent;
  result.bytes_sent = all.bytes_sent;
  result.bytes_received = all.bytes_received;
  result.calls_executed = dispatcher_.calls_executed();
  result.bytes_put = memory_.bytes_put();
  result.bytes_got = memory_.bytes_got();
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
