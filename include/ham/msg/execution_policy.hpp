// Execution policies: how a handler runs the message that it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ham/misc/types.hpp"
#include "ham/msg/pool_job.hpp"

namespace ham::inline v1::msg {

class active_msg_base;

namespace detail {

/// Calls use(message) with the Message at buffer, through an aligned copy where the buffer is not aligned for it. Only
/// active messages may lie at odd addresses: they came as bytes, and are bytes.
template <class Message, class Use>
void with_message(void* buffer, Use use) {
  if constexpr (std::is_base_of_v<active_msg_base, Message> && alignof(Message) > 1) {
    if (reinterpret_cast<std::uintptr_t>(buffer) % alignof(Message) != 0) [[unlikely]] {
      alignas(Message) std::byte aligned[sizeof(Message)];
      std::memcpy(aligned, buffer, sizeof(Message));
      use(*reinterpret_cast<Message*>(aligned));
      return;
    }
  }
  use(*static_cast<Message*>(buffer));
}

/// A message that waits for the thread pool.
template <class Message>
class pooled_message final : public pool_job {
 public:
  template <class Source>
  explicit pooled_message(Source&& from) : message_(std::forward<Source>(from)) {}
  void run() noexcept override { message_(); }

 private:
  Message message_;
};

}  // namespace detail

/// Executes the message where it lies, in the thread that received it: the lowest latency. The next message waits.
/// A user's policy is a class template of this form: any name, one static handler.
template <class Message>
struct execution_policy_direct {
  /// Runs the Message at `buffer` before it returns; an active message may lie at any address. Throws what that throws.
  static void handler(void* buffer) {
    detail::with_message<Message>(buffer, [](Message& message) { message(); });
  }
};

/// Executes a copy of the message on the thread pool of the process; the receiving thread goes on at once. Messages may
/// overtake each other. An exception that leaves the message ends the process, as with std::thread.
template <class Message>
struct execution_policy_pooled {
  /// Copies the Message at `buffer`, or moves it if it cannot be copied; `buffer` is free again when this returns.
  /// Throws std::bad_alloc, std::system_error.
  static void handler(void* buffer) {
    detail::with_message<Message>(buffer, [](Message& message) {
      if constexpr (std::is_copy_constructible_v<Message>) {
        detail::submit_to_process_pool(new detail::pooled_message<Message>(std::as_const(message)));
      } else {
        detail::submit_to_process_pool(new detail::pooled_message<Message>(std::move(message)));
      }
    });
  }
};

/// The policy of messages and calls that ask for none.
template <class Message>
using default_execution_policy = execution_policy_direct<Message>;

}  // namespace ham::msg
