// How the threads of a node wait: they poll, then back off, then one of them sleeps in the kernel and the others park.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

#include "base/biased_lock.hpp"
#include "base/clock.hpp"
#include "base/home_core.hpp"
#include "core/event_wait.hpp"
#include "core/parking.hpp"
#include "core/waiting_node.hpp"

namespace ham::detail {

class standby_receiver;

/// Also the receiving lock of the node: who has it polls the transports and settles calls, and is the one that sleeps.
/// All members may be called from any thread.
class waiter {
 public:
  explicit waiter(waiting_node& node) : node_(node) {}

  // ---- the receiving lock
  [[nodiscard]] bool try_lock() noexcept { return receiving_.try_lock(); }
  /// Wakes a thread that sleeps with the lock.
  void lock() noexcept {
    if (!receiving_.try_lock()) [[unlikely]]
      lock_contended();
  }
  void unlock() noexcept { receiving_.unlock(); }

  // ---- waiting
  /// Calls progress() until done(), which is checked first, or until the time has come. Gives what done() says.
  template <class Done, class Progress>
  bool wait_until(Done done, Progress progress, std::int64_t until_ns, const call_slot* awaited = nullptr) {
    idle_time idle;
    unsigned busy_rounds = 0;
    for (unsigned round = 1;; ++round) {
      if (done()) return true;
      if (progress()) {
        if (++busy_rounds % rounds_per_clock == 0 && is_late(until_ns, awaited)) [[unlikely]]
          return done();
        idle.since_ns = 0;
        idle.silent_since_ns = 0;
        idle.blocks = 0;
        round = 0;
        continue;
      }
      if (round % rounds_per_clock != 0) continue;
      const std::int64_t now = base::now_ns();
      if (now >= until_ns) return done();
      if (keep_spinning(idle, now, awaited)) continue;
      block(done, std::min(until_ns, idle.sleep_until_ns), idle.blocks++ % blocks_per_takeover == 0);
      adapt_spin(base::now_ns() - now);
      idle.since_ns = 0;
    }
  }
  /// The calling thread is the one that wakes up on the node's core, if the node has got one.
  void adopt_home_core() { home_.adopt_thread(); }

  // ---- waking
  /// Ends the sleep of this node when `fd` is readable.
  void watch(int fd) noexcept { events_.watch(fd); }
  /// Ends the sleep of the thread that makes progress, or the next one.
  void wake() noexcept { events_.wake(); }
  /// For who has brought something that a sleeping node has to look at.
  void wake_if_asleep() noexcept {
    if (sleeping_.load(std::memory_order_seq_cst)) wake();
  }
  /// For who has settled something: wakes the parked threads that have waited for it.
  void wake_finished() noexcept {
    if (parking_.occupied()) [[unlikely]]
      parking_.wake_finished();
  }
  /// For who has set something aside that another thread has to begin.
  void wake_parked() noexcept {
    if (parking_.occupied()) parking_.wake_all();
  }

  /// How often the node has slept.
  [[nodiscard]] std::uint64_t sleeps() const noexcept { return sleeps_.load(std::memory_order_relaxed); }
  /// In a child after fork: nobody else holds or waits for anything.
  void detach_after_fork() noexcept;

 private:
  friend class standby_receiver;

  static constexpr unsigned rounds_per_clock = 32;     // of empty polls, between two readings of the clock
  static constexpr unsigned blocks_per_takeover = 32;  // of the sleep of another thread
  static constexpr std::int64_t max_spin_ns = 60'000;  // about what a wake-up costs both sides together

  /// Of one wait, since something was done last.
  struct idle_time {
    std::int64_t since_ns = 0;
    std::int64_t silent_since_ns = 0;  ///< the node's
    std::int64_t woken_at_ns = INT64_MIN / 2;
    std::int64_t sleep_until_ns = base::never_ns;
    unsigned blocks = 0;  ///< how often it has slept, or been parked
  };
  [[gnu::noinline]] void lock_contended() noexcept;
  /// Of a wait during which something always arrives.
  [[gnu::noinline]] bool is_late(std::int64_t until_ns, const call_slot* awaited);
  /// False: it is time to sleep. Else it has given others what they need of the core.
  bool keep_spinning(idle_time& idle, std::int64_t now, const call_slot* awaited);
  void adapt_spin(std::int64_t asleep_ns) noexcept;
  void block(const std::function<bool()>& done, std::int64_t until_ns, bool takes_over);
  void sleep(std::int64_t until_ns);
  void park(const std::function<bool()>& done, std::int64_t until_ns, bool takes_over);
  [[nodiscard]] bool standby_polls() noexcept;

  waiting_node& node_;
  standby_receiver* standby_ = nullptr;
  base::biased_lock receiving_;
  std::atomic<int> lock_waiters_{0};  ///< threads that must have the lock before anyone sleeps with it
  std::atomic<bool> sleeping_{false};
  std::atomic<std::int64_t> spin_ns_{max_spin_ns};
  std::atomic<std::uint64_t> sleeps_{0};
  parking parking_;
  event_wait events_;
  base::home_core home_;  ///< of the thread that made the host's runtime, or that serves
};

}  // namespace ham::detail
