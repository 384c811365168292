#include "runtime/engine_info.hpp"

#include "runtime/engine.hpp"

namespace ham::inline v0::detail {

offload::statistics statistics_of(const engine& at) {
  offload::statistics result;
  const peer_traffic all = at.peers.traffic();
  result.calls_sent = all.calls_sent;
  result.bytes_sent = all.bytes_sent;
  result.bytes_received = all.bytes_received;
  result.calls_executed = at.calls_in.calls_executed();
  result.bytes_put = at.memory.bytes_put();
  result.bytes_got = at.memory.bytes_got();
  result.sleeps = at.waits.sleeps();
  return result;
}

offload::node_descriptor describe(engine& at, const offload::destination& node) {
  if (at.events.pending()) at.take_notice();
  const node_t process = at.process_of_handle(node);
  return offload::node_descriptor(at.peer_of(process, node.deadline_ns)->about.description());
}

bool is_alive(engine& at, const offload::destination& node) {
  if (node.node == at.self()) return true;
  if (at.events.pending()) at.take_notice();
  const replacements::state now = at.numbers.of(node.node);
  if (now.now != replacements::phase::up) return false;
  try {
    static_cast<void>(at.peer_of(now.process, node.deadline_ns));
    return true;
  } catch (const node_failure&) {
    return false;
  }
}

}  // namespace ham::detail
