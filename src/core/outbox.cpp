// How messages enter the outbox of a node and leave it.
#include "core/outbox.hpp"

#include <algorithm>

namespace ham::inline v1::detail {

std::uint32_t outbox::add(frame_header head, outbox_message& message) noexcept {
  if (messages_.empty()) filled_.fetch_add(1, std::memory_order_seq_cst);
  transport::outbound& one = message.list.front();
  one.head = head.encode();
  one.stream = next_stream_++;
  count_relayed(relayed_bytes_of(one));
  messages_.splice(messages_.end(), message.list);
  show();
  return messages_.back().stream;
}

bool outbox::flush(transport::endpoint& to) noexcept {
  if (messages_.empty()) return true;
  while (!messages_.empty()) {
    const std::uint64_t relayed = relayed_bytes_of(messages_.front());
    if (!transport::send_some(to, messages_.front(), to_byte(wire_kind::fragment))) return false;
    count_relayed(-relayed);
    messages_.pop_front();
    show();
  }
  emptied();
  return true;
}

std::optional<frame_header> outbox::withdraw(std::uint32_t stream) noexcept {
  return withdraw(std::find_if(messages_.begin(), messages_.end(),
                               [stream](const transport::outbound& one) { return one.stream == stream; }));
}

std::optional<frame_header> outbox::withdraw_call(std::uint32_t id) noexcept {
  return withdraw(std::find_if(messages_.begin(), messages_.end(), [id](const transport::outbound& one) {
    const frame_header head = frame_header::decode(one.head);
    return head.is_call() && head.id() == id;
  }));
}

std::optional<frame_header> outbox::withdraw(message_list::iterator which) noexcept {
  if (which == messages_.end() || which->sent != 0) return std::nullopt;
  const frame_header head = frame_header::decode(which->head);
  messages_.erase(which);
  show();
  if (messages_.empty()) emptied();
  return head;
}

message_list outbox::take() noexcept {
  message_list all;
  all.swap(messages_);
  show();
  relayed_.store(0, std::memory_order_relaxed);
  if (!all.empty()) emptied();
  return all;
}

}  // namespace ham::detail
