// How a node that has nothing to do goes to sleep, who wakes it, and which of its threads looks meanwhile.
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {
namespace {

constexpr std::int64_t look_in_between_ns = 100'000;  // what a call waits if the context's thread computes meanwhile

}  // namespace

void engine::block(const std::function<bool()>& done, std::int64_t until_ns) {
  if (!receiving_.try_lock()) {
    if (thread_depth == 0 || deferred_.load() == 0) {
      park(done, until_ns);
      return;
    }
    take_receiving();  // a message may be waiting that only this thread may execute
  } else if (wanted_.load() != 0) {
    finish_progress();
    base::yield();
    return;
  } else if (thread_depth == 0 && deferred_.load() == 0 && (looking_.load() || looked_.exchange(false))) {
    // A context is being called, call after call: its thread receives, and shall not find this one asleep with the
    // lock.
    finish_progress();
    park(done, std::min(until_ns, base::now_ns() + look_in_between_ns));
    return;
  }
  const bool due = deferred_.load() != 0 && has_runnable();
  const bool idle = !due && !done();
  const bool connected = transport_count_.load() != 0;
  if (idle && connected) {
    const base::home_core::asleep at_home(home_, core_to_wake_on());
    sleeping_.store(true, std::memory_order_seq_cst);
    if (!has_events_.load() && self_endpoint_.empty() && !stop_.load() && arm_all()) {
      sleeps_.fetch_add(1, std::memory_order_relaxed);
      sleep_armed(until_ns);
      for (const auto& one : transports()) one->disarm();
      quieten();
      warmth_ = longest_warmth;
    }
    sleeping_.store(false, std::memory_order_seq_cst);
    if (relief_rests_.load(std::memory_order_seq_cst)) wake_relief();
  }
  finish_progress();
  parking_.wake_all();
  if (idle && !connected) base::yield();
}

/// Negative: any.
int engine::core_to_wake_on() const noexcept {
  if (crowded()) return -1;
  for (const auto& one : transports()) {
    if (const int core = one->home_core(); core >= 0) return core;
  }
  return -1;
}

void engine::look_for(const std::atomic<bool>& news) {
  if (!serving_.load(std::memory_order_relaxed) || crowded()) return;
  if (looking_.exchange(true)) return;  // one is enough
  thread_only_looks = true;
  looked_.store(true);
  std::int64_t idle_since = base::now_ns();
  for (unsigned round = 1; !news.load(std::memory_order_acquire) && !stop_.load(std::memory_order_relaxed); ++round) {
    const bool found = progress();
    if (round % rounds_per_clock != 0 && !found) continue;
    const std::int64_t now = base::now_ns();
    if (found) idle_since = now;
    if (now - idle_since > longest_spin_ns) break;
    if (sleeping_.load(std::memory_order_acquire) && !parking_.occupied()) kick();
  }
  looking_.store(false);
  thread_only_looks = false;
  if (news.load(std::memory_order_acquire)) return;
  looked_.store(false);
  parking_.wake_all();
}

/// Announces to all transports that this node goes to sleep. False: one of them has something.
bool engine::arm_all() {
  const auto all = transports();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->arm()) continue;
    while (i-- > 0) all[i]->disarm();
    return false;
  }
  return true;
}

void engine::sleep_armed(std::int64_t until_ns) {
  std::int64_t wake_at = std::min(until_ns, next_deadline_.load());
  // Nobody says when a full queue has room again.
  if (outboxes_.load() != 0) wake_at = std::min(wake_at, base::now_ns() + 500'000);
  for (const auto& one : transports()) {
    const std::int64_t longest = one->longest_sleep_ns();
    if (longest != base::never_ns) wake_at = std::min(wake_at, base::now_ns() + longest);
  }
  timespec left{};
  if (wake_at != base::never_ns) {
    const std::int64_t ns = std::max<std::int64_t>(0, wake_at - base::now_ns());
    left = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  }
  epoll_event event{};
  const bool for_ever = wake_at == base::never_ns;
  if (::epoll_pwait2(epoll_.get(), &event, 1, for_ever ? nullptr : &left, nullptr) >= 0 ||
      (errno != ENOSYS && errno != EPERM))
    return;
  // Kernels before 5.11 and emulators: milliseconds, rounded up.
  const long ms = std::min<long>(left.tv_sec, 3600) * 1000 + (left.tv_nsec + 999'999) / 1'000'000;
  ::epoll_wait(epoll_.get(), &event, 1, for_ever ? -1 : static_cast<int>(ms));
}

/// Another thread makes progress for us. It wakes us when it has settled what we wait for; that it stops making
/// progress it tells only when it has slept, so the time is limited.
void engine::park(const std::function<bool()>& done, std::int64_t until_ns) {
  // The other thread sleeps in the kernel; for a while this one looks instead, which is quicker.
  if (sleeping_.load(std::memory_order_acquire) && !parking_.occupied()) kick();
  const std::int64_t longest = looking_.load() ? look_in_between_ns : 1'000'000;
  const bool may_execute =
      thread_depth != 0;  // calls that are set aside wait for the thread that executes their peer's
  parking_.wait([&] { return done() || (may_execute && deferred_.load() != 0); },
                std::min(until_ns, base::now_ns() + longest));
}

/// Ends the sleep of the thread that makes progress. Through a pipe, whose writer hands its core to the reader: a
/// thread that brings news sleeps again at once, and other cores may be busy for milliseconds.
void engine::kick() noexcept {
  const char any = 0;
  static_cast<void>(!::write(kick_in_.get(), &any, 1));  // a full pipe does as well
}

void engine::quieten() noexcept {
  std::array<char, 64> any{};
  while (::read(kick_out_.get(), any.data(), any.size()) == static_cast<ssize_t>(any.size())) {
  }
}

}  // namespace ham::detail
