// Words of other nodes, and calls that will not run.
#include <string>

#include "base/log.hpp"
#include "base/printable.hpp"
#include "core/relay_frame.hpp"
#include "core/remote_exception.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

void engine::welcome(peer& who) {
  who.show_met();
  if (owner != nullptr) owner->on_welcome(who.node);
  forwarder_.join(who);
  if (reports.wanted()) reports.add(offload::event_kind::joined, who.node);
}

void engine::receive_notice(peer& from, std::span<const std::byte> text) {
  if (!from.hello_seen || owner == nullptr) throw protocol_error("a notice that was not to be expected");
  owner->on_notice(from.node, text);
  waits.wake_finished();  // somebody may wait for what it tells
}

void engine::receive_relayed(peer& from, frame_header head, std::span<const std::byte> payload) {
  if (static_cast<node_t>(head.relay_receiver()) != self_) {
    if (peer* const liar = forwarder_.forward(from, head, payload))
      fail_peer(*liar, "credits for frames that it has not taken");
    return;
  }
  const node_t sender = sender_of_relayed(payload);
  if (!from.hello_seen || sender == self_ || sender == from.node || ways.hop_to(sender) != from.node)
    throw protocol_error("a relayed frame of node " + std::to_string(sender) + ", which it has not to pass on");
  try {
    relay().take(sender, head.relay_what(), payload.subspan(relay_sender_bytes));
  } catch (const std::exception& problem) {  // of this node: there can be no more transports, or no memory is left
    events.report_lost(sender, problem);
  }
}

void engine::receive_replayed(peer& from, frame_header head, std::span<const std::byte> payload) {
  if (!from.hello_seen || payload.size() < replayed_prefix_bytes)
    throw protocol_error("a result of a replay that cannot be");
  const auto part = msg::reader(payload).number<std::uint64_t>();
  graphs.take_result(from.node, part, head.replay(), payload.subspan(replayed_prefix_bytes));
}

void engine::receive_goodbye(peer& from, std::span<const std::byte> text) {
  if (ends_with(from.node)) lose_host();
  if (text.empty()) {
    all_connections.lose(from, "its runtime has ended", peer_end::left);
    return;
  }
  all_connections.lose(from,
                       "it closed the connection because it was sent " +
                           base::printable({reinterpret_cast<const char*>(text.data()), text.size()}),
                       peer_end::connection_lost);
}

/// Its sender has gone on. draining or closing its context fails, and this node says so once.
void engine::lose_ping(frame_header head, std::span<const std::byte> payload,
                       std::span<const std::byte> error) noexcept {
  if (head.in_context()) thread_contexts.count_lost(word_at(payload, 0));
  if (leaving_.load() || told_of_lost_pings_.exchange(true)) return;
  const std::string why = describe_exception(error);
  base::log("runtime", base::log_level::warning, "node %d: %s, called by ping, was not run: %s (said once)", self_,
            table_->pretty_name(head.key()).c_str(), why.c_str());
}

/// This node ends: calls that wait in its contexts will not run, and their callers are told. True if there were calls
/// of its own.
bool engine::refuse_queued() {
  const std::vector<stored_message> queued = thread_contexts.close_all();
  const auto error = encode_not_run("node " + std::to_string(self_) + " failed: its runtime has ended");
  bool calls_itself = false;
  for (const stored_message& one : queued) {
    one.from->users.fetch_sub(1, std::memory_order_relaxed);  // whose records stay until this engine goes
    if (one.from->state.load() == peer_state::lost) continue;
    calls_in.refuse(*one.from, one.head, one.bytes, error);
    calls_itself = calls_itself || one.from->node == self_;
  }
  return calls_itself;
}

}  // namespace ham::detail
