// Receives in place of the serving thread of a node: while that executes a call for long, and for the thread of a
// context between two of its calls.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "core/waiter.hpp"

namespace ham::inline v1::detail {

class engine;

/// What the standby receiver asks of its node. Any thread.
class served_node {
 public:
  virtual ~served_node() = default;
  /// Whether a thread of the node does nothing but serve.
  [[nodiscard]] virtual bool serving() const noexcept = 0;
  [[nodiscard]] virtual bool stopping() const noexcept = 0;
  /// Whether calls run on threads that have received them.
  [[nodiscard]] virtual bool executing() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t calls_executed() const noexcept = 0;
  /// Handles what has arrived. True if there was something.
  virtual bool receive() = 0;
};

/// Executes nothing itself but continuations: it queues calls for contexts, settles replies, and sets calls of the main
/// queue aside for the serving thread. All members may be called from any thread.
class standby_receiver {
 public:
  /// `owner`: the engine that its threads work for.
  standby_receiver(engine* owner, served_node& node, waiter& at) noexcept : owner_(owner), node_(node), waiter_(at) {
    waiter_.standby_ = this;
  }

  /// A thread that receives while the serving one executes a call for longer than a millisecond. While that one sleeps,
  /// so does this. Without a serving thread, or when it has been started, does nothing. Throws std::system_error.
  void start();
  /// For the end of the node.
  void stop() noexcept;
  /// For the thread of a context that has just worked: polls for a while in place of the serving thread, until `news`,
  /// because to be woken takes longer.
  void poll_for_context(const std::atomic<bool>& news);

  // ---- for the waiter
  /// Whether the thread of a context polls, or has since this was last asked.
  [[nodiscard]] bool polls() noexcept { return polling_.load() || polled_.exchange(false); }
  [[nodiscard]] bool is_polling() const noexcept { return polling_.load(); }
  /// The node has slept.
  void wake_if_resting() noexcept {
    if (resting_.load(std::memory_order_seq_cst)) wake();
  }

 private:
  void run();
  void rest();
  void wake() noexcept;
  [[nodiscard]] bool over() const noexcept { return end_.load() || node_.stopping(); }

  engine* const owner_;
  served_node& node_;
  waiter& waiter_;
  std::atomic<bool> polling_{false};
  std::atomic<bool> polled_{false};  ///< since this was last asked
  std::atomic<bool> resting_{false};
  std::atomic<bool> end_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace ham::detail
