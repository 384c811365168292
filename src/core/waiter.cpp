// When a node that has nothing to do goes to sleep, and who wakes it.
#include "core/waiter.hpp"

#include "base/backoff.hpp"
#include "base/cpu.hpp"
#include "base/renew.hpp"
#include "base/tracer.hpp"
#include "core/standby_receiver.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::int64_t min_spin_ns = 3'000;
/// What a core in deep sleep, or one of a virtual machine, takes to wake up.
constexpr std::int64_t waking_spin_ns = 400'000;
constexpr std::int64_t oversubscribed_spin_ns = 1'500;
constexpr std::int64_t max_park_ns = 1'000'000;
constexpr std::int64_t max_park_beside_poller_ns = 100'000;  // what a call waits if that thread computes

/// Calls that are set aside wait for the thread that executes their peer's.
bool may_execute() noexcept { return this_thread.depth != 0 && !this_thread.only_receives; }

}  // namespace

void waiter::lock_contended() noexcept {
  lock_waiters_.fetch_add(1);  // nobody goes to sleep with it now
  for (base::backoff<base::backoff_schedule{.spins = 100}> pause; !receiving_.try_lock();) {
    if (sleeping_.load(std::memory_order_acquire)) wake();
    pause.wait();
  }
  lock_waiters_.fetch_sub(1);
}

bool waiter::is_late(std::int64_t until_ns, const call_slot* awaited) {
  const std::int64_t now = base::now_ns();
  if (now >= until_ns) return true;
  std::int64_t silent_since = 0;
  if (this_thread.depth < thread_state::max_depth) static_cast<void>(node_.check_clock(now, awaited, silent_since));
  return false;
}

bool waiter::keep_spinning(idle_time& idle, std::int64_t now, const call_slot* awaited) {
  idle.sleep_until_ns = node_.check_clock(now, awaited, idle.silent_since_ns);
  if (idle.since_ns == 0) {
    idle.since_ns = now;
    base::home_core::go_home();
    if (awaited != nullptr && node_.wakes_up(*awaited)) idle.woken_at_ns = now;
  }
  const bool oversubscribed = node_.oversubscribed();
  const bool waking = now - idle.woken_at_ns < waking_spin_ns;
  const std::int64_t budget_ns = oversubscribed ? oversubscribed_spin_ns
                                 : waking       ? waking_spin_ns
                                                : spin_ns_.load(std::memory_order_relaxed);
  if (now - idle.since_ns > budget_ns) return false;
  if (counters_ != nullptr) counters_->note_polled(now);
  if (oversubscribed)
    base::yield();
  else if (now - idle.since_ns > min_spin_ns)
    base::relax();
  return true;
}

/// Had a longer spin caught it? Then spin longer from now on; else give the core away sooner. The wake-up itself is
/// part of what was measured.
void waiter::adapt_spin(std::int64_t asleep_ns) noexcept {
  const std::int64_t spin = spin_ns_.load(std::memory_order_relaxed);
  spin_ns_.store(asleep_ns < waking_spin_ns ? max_spin_ns : std::max(spin / 2, min_spin_ns), std::memory_order_relaxed);
}

/// `takes_over`: the calling thread has found something to do since it last blocked, or has just begun to wait, or has
/// waited for long: the thread that sleeps may have left it something to begin.
void waiter::block(const std::function<bool()>& done, std::int64_t until_ns, const call_slot* awaited,
                   bool takes_over) {
  const bool executes = must_execute();
  if (!receiving_.try_lock()) {
    if (!executes) {
      park(done, until_ns, takes_over);
      return;
    }
    lock();
  } else if (lock_waiters_.load() != 0) {
    node_.finish_progress();
    base::yield();
    return;
  } else if (this_thread.depth == 0 && !node_.has_deferred() && (standby_polls() || others_poll_alone())) {
    // Another thread calls, or a context is called, call after call: that thread receives, and shall not find this one
    // asleep with the lock.
    node_.finish_progress();
    park(done, std::min(until_ns, base::now_ns() + max_park_beside_poller_ns), takes_over);
    return;
  }
  rouse();
  // At once: one that polls on and on may have taken the lock again before this thread tries next.
  const bool has_executed = executes && node_.run_deferred(awaited);
  const bool idle = !has_executed && !(node_.has_deferred() && node_.has_runnable()) && !done();
  const bool connected = node_.connected();
  if (idle && connected) sleep(until_ns);
  node_.finish_progress();
  notify_all();
  if (idle && !connected) base::yield();
}

/// Calls are set aside that perhaps only this thread may begin: one in whose call others wait for their turn, or one
/// that has no call while a context's thread receives in its place, which may not.
bool waiter::must_execute() const noexcept {
  if (!node_.has_deferred()) return false;
  return may_execute() ||
         (this_thread.depth == 0 && !this_thread.only_receives && standby_ != nullptr && standby_->is_polling());
}

bool waiter::others_poll_alone() noexcept {
  const void* const who = polls_alone_.load(std::memory_order_relaxed);
  if (who == nullptr) return false;
  polls_alone_.store(nullptr, std::memory_order_relaxed);
  return who != base::thread_identity();
}

bool waiter::standby_polls() noexcept { return standby_ != nullptr && standby_->polls(); }

/// The receiving lock is held.
void waiter::sleep(std::int64_t until_ns) {
  const base::home_core::asleep at_home(home_, node_.home_core());
  set_sleeping(true);
  if (node_.arm()) {
    const base::traced_time asleep(base::trace_kind::slept);
    count_sleep();
    events_.sleep(std::min(until_ns, node_.next_wakeup_ns()));
    node_.disarm();
  }
  set_sleeping(false);
  if (standby_ != nullptr) standby_->wake_if_resting();
}

/// Another thread makes progress for us. It wakes us when it has settled what we wait for; that it stops making
/// progress it tells only when it has slept, so the time is limited.
void waiter::park(const std::function<bool()>& done, std::int64_t until_ns, bool takes_over) {
  // The other thread sleeps in the kernel; for a while this one polls instead, which is quicker. Only now and then: two
  // that wait for long would wake each other all the time.
  if (takes_over && sleeping_.load(std::memory_order_acquire) && !parking_.occupied()) wake();
  const bool beside_standby = standby_ != nullptr && standby_->is_polling();
  const bool executes = may_execute();
  const base::traced_time asleep(base::trace_kind::slept);
  parking_.wait([&] { return done() || (executes && node_.has_deferred()); },
                std::min(until_ns, base::now_ns() + (beside_standby ? max_park_beside_poller_ns : max_park_ns)));
}

void waiter::detach_after_fork() noexcept {
  base::renew(receiving_);
  base::renew(parking_);
  sleeping_.store(false);
  loop_sleeps_.store(false);
  lock_waiters_.store(0);
}

}  // namespace ham::detail
