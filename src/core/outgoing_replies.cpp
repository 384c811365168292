#include "core/outgoing_replies.hpp"

#include <cstring>
#include <new>

#include "core/batch_records.hpp"

namespace ham::inline v1::detail {

void outgoing_replies::finish_queued(frame_header head, reply_room& out) noexcept {
  if (!out.to->finish_queued_reply(head, out))
    waiter_.wake_if_asleep();  // this thread goes its way now; who sleeps must look after the rest
}

/// Who waits for an answer for which there is no memory would wait for ever: the connection is given up instead.
void outgoing_replies::reply_with(peer& to, frame_header head, std::span<const std::byte> bytes) noexcept {
  reply_room out;
  try {
    to.begin_reply(bytes.size(), out);
  } catch (const std::bad_alloc&) {
    if (to.node == self_)
      leave_unanswered(head, bytes);
    else if (to.state.load() != peer_state::lost)
      events_.report_end(to.node, peer_end::connection_broken, "no memory left");  // fits the string
    return;
  }
  if (!bytes.empty()) std::memcpy(out.data, bytes.data(), bytes.size());
  finish(head, out);
}

/// There was no memory for the answer to calls of this node to itself.
void outgoing_replies::leave_unanswered(frame_header head, std::span<const std::byte> bytes) noexcept {
  switch (head.kind()) {
    case wire_kind::reply:
    case wire_kind::reply_error: own_calls_.mark_unanswered(head.id()); break;
    case wire_kind::batch_reply:
      for (; !bytes.empty(); bytes = bytes.subspan(batch_result(bytes).size()))
        own_calls_.mark_unanswered(batch_result(bytes).call);
      break;
    default: break;
  }
  events_.report_without_memory();
}

}  // namespace ham::detail
