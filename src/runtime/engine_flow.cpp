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
  peers_.for_each_held([this](peer& one) {
    if (!one.slowed) return;
    one.slowed = false;
    say_flow(one, false);
  });
  slowed_peers_.store(0, std::memory_order_seq_cst);  // also of nodes that have gone
}

void engine::say_flow(peer& to, bool hold) noexcept {
  if (to.state.load(std::memory_order_acquire) == peer_state::lost) return;
  const std::byte word{hold};
  reply_with(to, frame_header::of(wire_kind::flow), {&word, 1});
}

void engine::receive_flow(peer& from, std::span<const std::byte> payload) {
  if (!from.hello_seen || payload.size() != 1 || payload[0] > std::byte{1})
    throw protocol_error("a word on its queue that means nothing");
  from.pings_held.store(payload[0] == std::byte{1}, std::memory_order_release);
}

bool engine::holds_pings(const peer& who) const noexcept {
  if (who.pings_held.load(std::memory_order_acquire)) return true;
  return who.node == self_ && (backlog_.filling() || self_endpoint_.queued() >= pings_between_polls);
}

/// Whether a ping may leave now. Who only sends never polls as long as there is room, and must hear all the same that
/// it shall stop. The sending lock is held.
bool engine::welcomes_ping(peer& who, std::size_t size) noexcept {
  const std::uint32_t sent = who.pings_since_poll.load(std::memory_order_relaxed) + 1 +
                             static_cast<std::uint32_t>(size / (bytes_between_polls / pings_between_polls));
  who.pings_since_poll.store(sent, std::memory_order_relaxed);
  return sent < pings_between_polls && !holds_pings(who);
}

/// Polls, and waits until pings are welcome at the node; throws if they are not until the deadline.
void engine::admit_ping(peer& who, const destination& to, msg::handler_entry& function) {
  who.pings_since_poll.store(0, std::memory_order_relaxed);
  progress();
  for (room_wait pause; holds_pings(who);) {
    const bool behind_calls = who.pings_held.load(std::memory_order_relaxed) || backlog_.filling();
    if (who.node == self_ && behind_calls && contexts::on_context_thread()) {
      throw call_error("too many calls wait on node " + std::to_string(self_) +
                       ", and a context that waited for its own node here might wait for itself; wait for some first");
    }
    if (who.state.load(std::memory_order_acquire) == peer_state::lost)
      throw_lost(who, &function, call_outcome::not_run);
    if (to.deadline_ns != 0 && base::now_ns() >= to.deadline_ns) std::rethrow_exception(missed_call(to.node, function));
    make_room(pause);
  }
}

}  // namespace ham::detail
