// The contexts of a node: threads that execute the calls sent to them in order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/thread.hpp"
#include "core/peer.hpp"

namespace ham::inline v1::detail {

class engine;

/// Any thread.
class contexts {
 public:
  explicit contexts(engine& at) : engine_(at) {}
  ~contexts() { stop(); }

  /// Starts a context's thread; its number is never used twice. Stack of 0 bytes: the usual size.
  [[nodiscard]] std::uint32_t open(std::size_t stack_bytes = 0);
  /// Queues a message, for which room was taken. False if there is no such context.
  [[nodiscard]] bool push(std::uint32_t context, stored_message message);
  /// Takes back a call that waits; the room that it has is the caller's to give.
  [[nodiscard]] std::optional<stored_message> withdraw(const peer& from, std::uint32_t call);
  /// Whether a message waits for which `is_meant` is true.
  [[nodiscard]] bool any(const std::function<bool(const stored_message&)>& is_meant);
  /// Ends the calling context after what is queued; called on the context's own thread.
  void close_current();
  /// Ends a context after what is queued; any thread. Unknown: nothing.
  void end(std::uint32_t context) noexcept;
  /// Whether the calling thread is a context's, of any engine.
  [[nodiscard]] static bool on_context_thread() noexcept;
  /// Which one; 0: none.
  [[nodiscard]] static std::uint32_t current() noexcept;
  /// That of the call which the calling thread executes: a call to the node itself that the thread of a context begins
  /// while it waits in another one has none.
  [[nodiscard]] static std::uint32_t of_call() noexcept;
  /// A ping to the context found no room.
  void count_lost(std::uint32_t context) noexcept;
  /// Throws ham::call_error if pings to the calling context were lost since this was last asked.
  void fail_if_lost();
  /// Takes no messages from now on, and gives back those that have not begun.
  [[nodiscard]] std::vector<stored_message> close_all();
  /// Ends all threads. What has not begun is dropped.
  void stop();

 private:
  struct worker {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<stored_message> queue;
    std::atomic<bool> news{false};  ///< something was queued, or it is closing
    bool closing = false;
    base::sized_thread thread;
    std::uint32_t id = 0;
    bool finished = false;
    std::atomic<std::uint64_t> lost{0};  ///< pings that found no room
  };
  void work(worker& self);
  void join_finished();

  engine& engine_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::unique_ptr<worker>> workers_;
  std::uint32_t next_ = 1;
  bool stopped_ = false;
};

}  // namespace ham::detail
