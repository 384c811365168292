// Accesses to the memory of other nodes that their transports have begun, and that go on as long as they are polled.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::detail {

/// One such access, or several that settle one future.
class started_transfer {
 public:
  virtual ~started_transfer() = default;
  /// Moves it on, without waiting; true: it is over and has settled. One thread at a time; never under the receiving
  /// lock.
  [[nodiscard]] virtual bool move_on() noexcept = 0;
  /// The node ends: settles it as lost.
  virtual void give_up() noexcept = 0;
};

/// Paper 1, Table II: asynchronous put and get over transports that move bytes by themselves when they are polled. All
/// are moved on at once. Threads that wait do that; where any thread may, one of the node's does too, so that they go
/// on while their callers compute. It is started by the first, sleeps while there is none, and pauses between polls
/// that move nothing, so that the core stays with others. All members may be called from any thread.
class started_transfers {
 public:
  /// `owner`: what the thread works for.
  explicit started_transfers(engine* owner) noexcept : owner_(owner) {}
  ~started_transfers() { stop(); }
  started_transfers(const started_transfers&) = delete;
  started_transfers& operator=(const started_transfers&) = delete;

  /// Takes `what` over and moves it on for the first time. `any_thread`: else only threads that call poll() may. False,
  /// and `what` stays the caller's and untouched: there is no thread or memory for it, or the node ends.
  [[nodiscard]] bool begin(std::unique_ptr<started_transfer>& what, bool any_thread) noexcept;
  /// Whether any is not over.
  [[nodiscard]] bool busy() const noexcept { return busy_.load(std::memory_order_relaxed) != 0; }
  /// Moves all on, unless another thread does. Not under the receiving lock.
  void poll() noexcept;
  /// Nothing is taken over any more; moves on what has been until it is over, not longer than until `until_ns`
  /// (base::now_ns()).
  void finish(std::int64_t until_ns) noexcept;
  /// Ends the thread, and gives up what is not over. Before the transports end.
  void stop() noexcept;
  /// In a child after fork: the thread is not here, and what is under way is the parent's.
  void detach_after_fork() noexcept;

 private:
  struct entry {
    std::unique_ptr<started_transfer> what;
    bool any_thread;
  };
  using guard = std::unique_lock<std::mutex>;

  void run() noexcept;
  [[nodiscard]] bool start_thread(guard& locked) noexcept;
  [[nodiscard]] bool try_poll() noexcept;

  engine* const owner_;
  std::mutex mutex_;
  std::list<entry> entries_;  // whoever polls removes them, and nobody else
  std::size_t for_thread_ = 0;
  bool closed_ = false;
  bool stop_ = false;
  std::condition_variable news_;
  std::thread thread_;
  std::atomic<bool> polling_{false};
  std::atomic<std::size_t> busy_{0};
};

}  // namespace ham::detail
