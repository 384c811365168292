// How replies leave a node. They never wait for room: the receiver of calls must go on receiving.
#pragma once

#include <cstddef>
#include <span>

#include "core/call_table.hpp"
#include "core/frame_header.hpp"
#include "core/peer.hpp"
#include "core/peer_events.hpp"
#include "core/reply_sender.hpp"
#include "core/waiter.hpp"

namespace ham::inline v1::detail {

/// All members may be called from any thread, which holds no sending lock but the one of the reply's room.
class outgoing_replies final : public reply_sender {
 public:
  /// `self`: whose replies to calls of its own fail if there is no memory for them.
  outgoing_replies(node_t self, waiter& wakes, peer_events& events, call_table& own_calls) noexcept
      : self_(self), waiter_(wakes), events_(events), own_calls_(own_calls) {}

  /// Sends what begin_reply() of its peer has made room for.
  void finish(frame_header head, reply_room& out) noexcept {
    if (out.queued == nullptr) [[likely]]
      out.to->commit(head);
    else
      finish_queued(head, out);
  }
  void reply_with(peer& to, frame_header head, std::span<const std::byte> bytes) noexcept override;

 private:
  void finish_queued(frame_header head, reply_room& out) noexcept;
  void leave_unanswered(frame_header head, std::span<const std::byte> bytes) noexcept;

  const node_t self_;
  waiter& waiter_;
  peer_events& events_;
  call_table& own_calls_;
};

}  // namespace ham::detail
