// Words between nodes on whether pings are welcome.
#include "core/ping_flow.hpp"

#include "ham/error.hpp"

namespace ham::inline v1::detail {

void ping_flow::slow(peer& from) noexcept {
  std::lock_guard guard(mutex_);
  if (from.pings.slowed_) return;
  slowed_peers_.fetch_add(1, std::memory_order_seq_cst);
  if (room_.draining()) {  // by now; whoever gave room may not have seen that somebody waits for it
    slowed_peers_.fetch_sub(1, std::memory_order_seq_cst);
    return;
  }
  from.pings.slowed_ = true;
  say(from, true);
}

void ping_flow::resume() noexcept {
  if (!room_.draining()) return;
  std::lock_guard guard(mutex_);
  peers_.for_each_held([this](peer& one) {
    if (!one.pings.slowed_) return;
    one.pings.slowed_ = false;
    say(one, false);
  });
  slowed_peers_.store(0, std::memory_order_seq_cst);  // also of nodes that have gone
}

void ping_flow::say(peer& to, bool hold) noexcept {
  if (to.state.load(std::memory_order_acquire) == peer_state::lost) return;
  const std::byte word{hold};
  replies_.reply_with(to, frame_header::of(wire_kind::flow), {&word, 1});
}

void ping_flow::receive(peer& from, std::span<const std::byte> payload) {
  if (!from.hello_seen || payload.size() != 1 || payload[0] > std::byte{1})
    throw protocol_error("a word on its queue that means nothing");
  from.pings.hold(payload[0] == std::byte{1});
}

bool ping_flow::welcomes(peer& to, std::size_t size) const noexcept { return to.pings.spend(size) && !holds(to); }

bool ping_flow::holds(const peer& to) const noexcept {
  if (to.pings.held()) return true;
  return to.node == own_.peer() && (room_.filling() || own_.queued() >= ping_credit::pings_between_polls);
}

}  // namespace ham::detail
