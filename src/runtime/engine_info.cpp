#include "runtime/engine_info.hpp"

#include <string>

#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

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

offload::peer_statistics statistics_with(engine& at, node_t node) {
  const node_t process = without_exact_bit(at.numbers.of(node).process);
  if (node < 0 || static_cast<std::size_t>(process) >= at.peers.size()) {
    throw call_error("node " + std::to_string(node) + " is not in this job (it has nodes 0 to " +
                         std::to_string(at.peers.size() - 1) + "); ask for one of them",
                     call_error_reason::no_such_node);
  }
  const peer_hold who = at.peers.hold(process);
  if (!who) return {};
  const base::counter_traffic& with = who->row->traffic;
  return {with.calls_sent.load(std::memory_order_relaxed), with.calls_received.load(std::memory_order_relaxed),
          with.bytes_sent.load(std::memory_order_relaxed), with.bytes_received.load(std::memory_order_relaxed),
          with.waiting.load(std::memory_order_relaxed)};
}

offload::node_descriptor describe(engine& at, const offload::destination& node) {
  if (at.events.pending()) at.take_notice();
  const node_t process = at.process_of_handle(node);
  return offload::node_descriptor(at.peer_of(process, {node.deadline_ns})->about.description());
}

bool is_alive(engine& at, const offload::destination& node) {
  if (node.node == at.self()) return true;
  if (at.events.pending()) at.take_notice();
  const replacements::state now = at.numbers.of(node.node);
  if (now.now != replacements::phase::up) return false;
  try {
    static_cast<void>(at.peer_of(now.process, {node.deadline_ns}));
    return true;
  } catch (const node_failure&) {
    return false;
  }
}

}  // namespace ham::detail
