// The thread that executes what device functions ask of their process: it may wait for a full pipe or a busy node.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ham/device/offloading.hpp"
#include "ham/device/outbox.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

/// Executes messages on a thread of its own, which starts with the first one: those of a block in their order, those of
/// several in turns. They wait in the queues of the device, whose senders wait if they are full; so nothing grows here.
/// Its members are for one thread at a time, answer() for another one.
class device_message_runner {
 public:
  device_message_runner(engine& at, std::span<device::detail::outbox> from);
  /// Waits until those that have arrived are executed, at most 300 ms. Then nothing more is begun; a line of text
  /// that its reader does not take is left behind, and a call of another node is waited for: it ends when that node
  /// does.
  ~device_message_runner();
  device_message_runner(const device_message_runner&) = delete;
  device_message_runner& operator=(const device_message_runner&) = delete;

  /// Whether there is a message that has arrived by `now_ns`, and the thread does not execute any.
  [[nodiscard]] bool is_due(std::int64_t now_ns) const noexcept;
  /// Whether nothing is to be executed, nor is under way to the host.
  [[nodiscard]] bool is_quiet() const noexcept;
  /// Has the thread execute what has arrived. If none can be started, the calling one does.
  void run();
  /// Answers a message, which may say any slot: once, and not if a later one has the slot by now.
  void answer(const device::detail::answer_place& to, device::detail::answer_status status, const std::byte* value,
              std::size_t size) noexcept;

 private:
  struct shared;

  const std::shared_ptr<shared> shared_;  // with the thread, which may stay behind in a line of text
};

}  // namespace ham::detail
