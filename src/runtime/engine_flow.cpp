// Back-pressure for pings. Nobody waits for their results, so what a node has set aside for busy contexts must slow
// down who sends them by other means: the node says when it has too much, and when it has room again.
#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {
namespace {

constexpr std::uint32_t pings_between_polls = 256;
constexpr std::size_t bytes_between_polls = 1U << 20;

}  // namespace

void engine::slow_pings(peer& from) noexcept {
  std::lock_guard guard(flow_mutex_);
  if (from.slowed) return;
  slowed_peers_.fetch_add(1, std::memory_order_seq_cst);
  if (backlog_.draining()) {  // by now; whoever gave room may not have seen that somebody waits for it
    slowed_peers_.fetch_sub(1, std::memory_order_seq_cst);
    return;
  }
  from.slowed = true;
  say_flow(from, true);
}

void engine::give_room(std::size_t bytes) noexcept {
  backlog_.give(bytes);
  if (slowed_peers_.load(std::memory_order_seq_cst) == 0 || !backlog_.draining()) [[likely]]
    return;
  std::lock_guard guard(flow_mutex_);
  for (peer* const one : peers_) {
    if (!one->slowed) continue;
    one->slowed = false;
    say_flow(*one, false);
  }
  slowed_peers_.store(0, std::memory_order_seq_cst);  // also of nodes that have gone
}

void engine::say_flow(peer& to, bool hold) noexcept {
  if (to.state.load(std::memory_order_acquire) == peer_state::lost) return;
  const std::byte word{hold};
  reply_with(to, no_reply, wire_kind::flow, {&word, 1});
}

void engine::receive_flow(peer& from, std::span<const std::byte> payload) {
  if (!from.hello_seen || payload.size() != 1 || payload[0] > std::byte{1})
    throw protocol_error("a word on its queue that means nothing");
  from.pings_held.store(payload[0] == std::byte{1}, std::memory_order_release);
}

/// Waits until pings are welcome at the node; throws if they are not until the deadline.
void engine::admit_ping(peer& who, const destination& to, std::size_t size, msg::handler_entry& function) {
  // Who only sends never polls as long as there is room, and must hear all the same that it shall stop.
  const std::uint32_t sent = who.pings_since_poll.load(std::memory_order_relaxed) + 1 +
                             static_cast<std::uint32_t>(size / (bytes_between_polls / pings_between_polls));
  who.pings_since_poll.store(sent, std::memory_order_relaxed);
  if (sent >= pings_between_polls) {
    who.pings_since_poll.store(0, std::memory_order_relaxed);
    progress();
  }
  for (unsigned empty_polls = 0;;) {
    const bool held = who.pings_held.load(std::memory_order_acquire) || (who.node == self_ && backlog_.filling());
    if (held && who.node == self_ && contexts::on_context_thread()) {
      throw call_error("too many calls wait on node " + std::to_string(self_) +
                       ", and a context that waited for its own node here might wait for itself; wait for some first");
    }
    const bool behind = who.node == self_ && self_endpoint_.queued() >= pings_between_polls;
    if (!held && !behind) return;
    if (who.state.load(std::memory_order_acquire) == peer_state::lost)
      throw_lost(who, &function, call_outcome::not_run);
    if (to.deadline_ns != 0 && base::now_ns() >= to.deadline_ns) std::rethrow_exception(missed_call(to.node, function));
    make_room(who, empty_polls);
  }
}

}  // namespace ham::detail
