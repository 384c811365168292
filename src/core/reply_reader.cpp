// What a waiting thread may touch is what nobody else does while it has the `reading` lock of the node's place.
#include "core/reply_reader.hpp"

#include <mutex>

#include "core/wire.hpp"

namespace ham::inline v1::detail {

polled_reply reply_reader::poll(const call_slot& awaited) {
  const node_t node = awaited.node.load(std::memory_order_relaxed);
  if (node == of_.self) return polled_reply::elsewhere;
  peer* const who = of_.peers.try_reading(node);
  if (who == nullptr) return polled_reply::elsewhere;
  const std::unique_lock reading(who->place.reading, std::adopt_lock);
  if (who->state.load(std::memory_order_acquire) != peer_state::ready) return polled_reply::elsewhere;
  if (who->failed.load(std::memory_order_relaxed)) return polled_reply::elsewhere;
  transport::endpoint& from = *who->to;
  if (from.shared() == nullptr) return can_share(from) ? polled_reply::unshared : polled_reply::elsewhere;
  const std::uint32_t call = awaited.id.load(std::memory_order_relaxed);
  if (!of_.pending.awaits(call, node) || awaited.settled()) return polled_reply::elsewhere;
  transport::frame frame;
  switch (from.poll_reply(to_byte(wire_kind::reply), call, long_reply, polls, frame)) {
    case transport::reply_poll::nothing: return polled_reply::nothing;
    case transport::reply_poll::other: return polled_reply::elsewhere;
    case transport::reply_poll::reply: break;
  }
  if (frame.head.kind != to_byte(wire_kind::reply) || frame.head.call != call || frame.payload.size() > long_reply) {
    from.release();
    throw protocol_error("a frame that changed while it was read");
  }
  of_.receiver.receive_reply(from, *who, frame);
  return polled_reply::settled;
}

/// Not with faults: replies are held back, and strike later.
bool reply_reader::can_share(const transport::endpoint& with) const noexcept {
  return with.can_be_shared() && (of_.faults == nullptr || !of_.faults->for_calls());
}

bool reply_reader::share(const call_slot& awaited) noexcept {
  const node_t node = awaited.node.load(std::memory_order_relaxed);
  if (node == of_.self || !of_.peers.has(node)) return false;
  peer& who = of_.peers[node];
  if (who.state.load() != peer_state::ready || !can_share(*who.to)) return false;
  if (who.to->shared() != nullptr) return true;
  of_.pending.spread_slots();
  const std::lock_guard reading(who.place.reading);
  who.to->share_reading(&who.place.reading);
  return true;
}

void reply_reader::leave_to_poll(const call_slot& awaited) noexcept {
  const node_t node = awaited.node.load(std::memory_order_relaxed);
  if (node == of_.self || !of_.peers.has(node)) return;
  peer& who = of_.peers[node];
  if (who.to != nullptr) who.to->leave_to_poll();
}

}  // namespace ham::detail
