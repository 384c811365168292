// What waits for room on its way to one node.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/frame_header.hpp"
#include "core/outbox_message.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// Long messages, which travel in fragments, and replies for which there was no room. Behind them everything to that
/// node queues, so that the order is kept. Under the node's sending lock, unless said otherwise.
class outbox {
 public:
  /// `filled`: how many outboxes are not empty, of all that share it. `shown`: is told how many messages wait.
  explicit outbox(std::atomic<std::uint32_t>& filled, std::atomic<std::uint32_t>* shown = nullptr) noexcept
      : filled_(filled), shown_(shown) {}

  [[nodiscard]] bool empty() const noexcept { return messages_.empty(); }
  /// Behind what is there. Gives the stream under which its fragments will travel.
  std::uint32_t add(frame_header head, outbox_message& message) noexcept;
  /// Bytes of frames that this node passes on, and relay_frame_bytes for each. Any thread.
  [[nodiscard]] std::uint64_t relayed_bytes() const noexcept { return relayed_.load(std::memory_order_relaxed); }
  /// Sends what there is room for. True if nothing is left.
  bool flush(transport::endpoint& to) noexcept;
  /// Takes a message back of which nothing has left, and gives its header. Nothing: it is on its way, or has gone.
  std::optional<frame_header> withdraw(std::uint32_t stream) noexcept;
  /// The same with the call of an id, if it is a message of its own.
  std::optional<frame_header> withdraw_call(std::uint32_t id) noexcept;
  /// All that has not left, or not all of it: the node was lost.
  [[nodiscard]] message_list take() noexcept;

 private:
  std::optional<frame_header> withdraw(message_list::iterator which) noexcept;
  static std::uint64_t relayed_bytes_of(const transport::outbound& one) noexcept {
    return one.head.kind == to_byte(wire_kind::relay) ? one.view().size() + relay_frame_bytes : 0;
  }
  void count_relayed(std::uint64_t more) noexcept {
    relayed_.store(relayed_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void emptied() noexcept { filled_.fetch_sub(1, std::memory_order_relaxed); }
  void show() const noexcept {
    if (shown_ != nullptr) shown_->store(static_cast<std::uint32_t>(messages_.size()), std::memory_order_relaxed);
  }

  message_list messages_;
  std::atomic<std::uint64_t> relayed_{0};
  std::uint32_t next_stream_ = 0;
  std::atomic<std::uint32_t>& filled_;
  std::atomic<std::uint32_t>* const shown_;
};

}  // namespace ham::detail
