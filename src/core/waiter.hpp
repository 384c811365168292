// How the threads of a node wait: they poll, then back off, then one of them sleeps in the kernel and the others park.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "base/biased_lock.hpp"
#include "base/clock.hpp"
#include "base/cpu.hpp"
#include "base/home_core.hpp"
#include "base/own_counters.hpp"
#include "base/thread_identity.hpp"
#include "core/event_wait.hpp"
#include "core/loop_event.hpp"
#include "core/parking.hpp"
#include "core/thread_state.hpp"
#include "core/waiting_node.hpp"

namespace ham::inline v1::detail {

class standby_receiver;

/// Also the receiving lock of the node: who has it polls the transports and settles calls, and is the one that sleeps.
/// All members may be called from any thread.
class waiter {
 public:
  /// `counters`: are told how the node waits; nullptr: nobody reads them.
  explicit waiter(waiting_node& node, base::own_counters* counters = nullptr) : node_(node), counters_(counters) {}

  // ---- the receiving lock
  [[nodiscard]] bool try_lock() noexcept { return receiving_.try_lock(); }
  /// For who polls on and on: gives way to a thread that must have the lock, and could miss every gap between polls.
  [[nodiscard]] bool try_lock_to_poll() noexcept {
    return lock_waiters_.load(std::memory_order_relaxed) == 0 && receiving_.try_lock();
  }
  /// Wakes a thread that sleeps with the lock.
  void lock() noexcept {
    if (!receiving_.try_lock()) [[unlikely]]
      lock_contended();
  }
  void unlock() noexcept { receiving_.unlock(); }
  /// The calling thread has polled for a reply alone, and perhaps goes on so: who has the lock does not sleep with it,
  /// or would be woken by what comes for this thread.
  void note_polling_alone() noexcept {
    if (polls_alone_.load(std::memory_order_relaxed) == nullptr) [[unlikely]]
      polls_alone_.store(base::thread_identity(), std::memory_order_relaxed);
  }
  /// With the lock, before transports are polled, changed or armed: the node does not sleep (for an event loop) any
  /// more.
  void rouse() noexcept {
    if (sleeping_.load(std::memory_order_relaxed)) [[unlikely]]
      end_loop_sleep();
  }

  // ---- waiting
  /// Calls progress() until done(), which is checked first, or until the time has come. Gives what done() says.
  template <class Done, class Progress>
  bool wait_until(Done done, Progress progress, std::int64_t until_ns, const call_slot* awaited = nullptr) {
    const polling_time only_here;
    idle_time idle;
    unsigned busy_rounds = 0;
    for (unsigned round = 1;; ++round) {
      if (done()) return true;
      const bool any = progress();
      if (!any) this_thread.note_polled();
      if (any) {
        if (++busy_rounds % base::polls_per_clock == 0 && is_late(until_ns, awaited)) [[unlikely]]
          return done();
        idle.since_ns = 0;
        idle.silent_since_ns = 0;
        idle.blocks = 0;
        round = 0;
        continue;
      }
      if (round % base::idle_polls_per_clock != 0) continue;
      const std::int64_t now = base::now_ns();
      if (now >= until_ns) return done();
      this_thread.polled_at = 0;  // others may get the core now
      if (keep_spinning(idle, now, awaited)) continue;
      block(done, std::min(until_ns, idle.sleep_until_ns), awaited, idle.blocks++ % blocks_per_takeover == 0);
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
      notify_finished();
  }
  /// For who has set something aside that another thread has to begin.
  void wake_parked() noexcept {
    if (parking_.occupied()) notify_all();
  }

  // ---- instead of waiting: an event loop of the program sleeps
  /// A descriptor, made by the first call, that is readable when the loop has to take a turn: something has arrived or
  /// is due, another thread has settled something, or this node does not sleep while no thread of it makes progress.
  /// Throws ham::config_error.
  [[nodiscard]] int loop_fd();
  /// A turn: what is found in between is done by the loop's thread, without the lock. The end announces to all
  /// transports that the node sleeps, which it then does without a thread that holds the lock.
  void begin_loop_turn();
  void end_loop_turn();

  /// How often the node has slept.
  [[nodiscard]] std::uint64_t sleeps() const noexcept { return sleeps_.load(std::memory_order_relaxed); }
  /// In a child after fork: nobody else holds or waits for anything.
  void detach_after_fork() noexcept;

 private:
  friend class standby_receiver;

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
  void block(const std::function<bool()>& done, std::int64_t until_ns, const call_slot* awaited, bool takes_over);
  void sleep(std::int64_t until_ns);
  void park(const std::function<bool()>& done, std::int64_t until_ns, bool takes_over);
  [[nodiscard]] bool must_execute() const noexcept;
  [[nodiscard]] bool standby_polls() noexcept;
  [[nodiscard]] bool others_poll_alone() noexcept;
  void notify_finished() noexcept;
  void notify_all() noexcept;
  void end_loop_sleep() noexcept;
  /// The receiving lock is held.
  void set_sleeping(bool sleeping) noexcept {
    sleeping_.store(sleeping, std::memory_order_seq_cst);
    if (counters_ != nullptr) counters_->note_asleep(sleeping);
  }
  void count_sleep() noexcept {
    sleeps_.fetch_add(1, std::memory_order_relaxed);
    if (counters_ != nullptr) counters_->count_sleep();
  }

  waiting_node& node_;
  base::own_counters* const counters_;
  standby_receiver* standby_ = nullptr;
  /// On a line of its own: who polls writes it all the time, and what follows is read by threads that poll alone.
  alignas(base::cache_line_bytes) base::biased_lock receiving_;
  std::atomic<int> lock_waiters_{0};  ///< threads that must have the lock before anyone sleeps with it
  alignas(base::cache_line_bytes) std::atomic<bool> sleeping_{false};
  std::atomic<const void*> polls_alone_{nullptr};  ///< a thread that does, since this was last asked
  std::atomic<std::int64_t> spin_ns_{max_spin_ns};
  std::atomic<std::uint64_t> sleeps_{0};
  parking parking_;
  event_wait events_;
  std::mutex loop_mutex_;  ///< of the making of the next
  std::unique_ptr<loop_event> made_loop_;
  std::atomic<loop_event*> loop_{nullptr};
  std::atomic<bool> loop_sleeps_{
      false};  ///< if the node sleeps, a turn of the loop has announced it, and no thread has
  std::atomic<std::int64_t> loop_rests_until_ns_{0};  ///< other threads poll: they settle what the loop waits for
  base::home_core home_;                              ///< of the thread that made the host's runtime, or that serves
};

}  // namespace ham::detail
