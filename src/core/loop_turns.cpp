// How a node sleeps while the program waits in an event loop: armed, with nobody holding the receiving lock. Whoever
// takes the lock to poll ends that sleep, and the descriptor is readable until the loop has taken another turn.
#include <algorithm>

#include "base/clock.hpp"
#include "core/standby_receiver.hpp"
#include "core/waiter.hpp"

namespace ham::inline v1::detail {
namespace {

/// While other threads poll, the loop does not announce a sleep that they would end at once. They tell what they
/// settle; that they have stopped they do not tell.
constexpr std::int64_t rest_beside_others_ns = 1'000'000;

}  // namespace

int waiter::loop_fd() {
  std::lock_guard guard(loop_mutex_);
  if (made_loop_ == nullptr) {
    made_loop_ = std::make_unique<loop_event>(events_.fd());
    loop_.store(made_loop_.get(), std::memory_order_release);
    parking_.occupy();
  }
  return made_loop_->fd();
}

void waiter::begin_loop_turn() {
  loop_.load(std::memory_order_acquire)->begin_turn();
  std::int64_t silent_since = 0;
  node_.check_clock(base::now_ns(), nullptr, silent_since);
}

void waiter::end_loop_turn() {
  loop_event& loop = *loop_.load(std::memory_order_acquire);
  const bool locked = receiving_.try_lock();
  if (locked) rouse();  // a turn without news
  loop.drain();         // before everything is checked once more
  if (!locked) {
    // Another thread has it: when it has slept, or ends the sleep that a turn announced, it tells. If it only passes by
    // it does not, and what this turn was for is still there.
    if (!sleeping_.load(std::memory_order_seq_cst) || loop_sleeps_.load(std::memory_order_seq_cst))
      loop.set_time(base::now_ns() + rest_beside_others_ns);
    return;
  }
  const std::int64_t rests_until = loop_rests_until_ns_.load(std::memory_order_relaxed);
  if (const std::int64_t now = base::now_ns(); rests_until > now || !node_.connected()) {
    loop.set_time(std::max(rests_until, now + rest_beside_others_ns / 2));
  } else if (lock_waiters_.load() != 0 || (node_.has_deferred() && node_.has_runnable())) {
    loop.signal();
  } else {
    events_.drain();  // what it stood for is seen by arm(), or runs below
    set_sleeping(true);
    if (node_.arm()) {
      loop_sleeps_.store(true, std::memory_order_seq_cst);
      count_sleep();
      std::int64_t until = node_.next_wakeup_ns();
      // Calls wait behind one that another thread executes, which may leave without beginning them, or telling.
      if (node_.has_deferred()) until = std::min(until, base::now_ns() + rest_beside_others_ns);
      loop.set_time(until);
    } else {
      set_sleeping(false);
      loop.signal();
    }
  }
  node_.finish_progress();
}

/// The receiving lock is held.
void waiter::end_loop_sleep() noexcept {
  node_.disarm();
  loop_sleeps_.store(false, std::memory_order_seq_cst);
  set_sleeping(false);
  if (standby_ != nullptr) standby_->wake_if_resting();
  loop_event& loop = *loop_.load(std::memory_order_relaxed);
  if (!loop.is_mine()) loop_rests_until_ns_.store(base::now_ns() + rest_beside_others_ns, std::memory_order_relaxed);
  loop.signal();
}

void waiter::notify_finished() noexcept {
  parking_.wake_finished();
  if (loop_event* const loop = loop_.load(std::memory_order_acquire)) loop->signal();
}

void waiter::notify_all() noexcept {
  parking_.wake_all();
  if (loop_event* const loop = loop_.load(std::memory_order_acquire)) loop->signal();
}

}  // namespace ham::detail
