// An epoll descriptor of an event, a timer, and what the node itself sleeps on.
#include "core/loop_event.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <ctime>

#include "base/clock.hpp"
#include "base/event_fds.hpp"

namespace ham::inline v1::detail {

loop_event::loop_event(int sleeps_on)
    : epoll_(base::make_epoll()), event_(base::make_event()), timer_(base::make_timer()), timer_ns_(base::never_ns) {
  base::watch(epoll_.get(), event_.get(), EPOLLIN, nullptr);
  base::watch(epoll_.get(), timer_.get(), EPOLLIN, nullptr);
  base::watch(epoll_.get(), sleeps_on, EPOLLIN, nullptr);
  signal();  // the first turn announces the node's sleep
}

void loop_event::signal() noexcept {
  if (!signalled_.exchange(true, std::memory_order_seq_cst)) base::signal_event(event_.get());
}

void loop_event::begin_turn() noexcept {
  thread_.store(base::thread_identity(), std::memory_order_relaxed);
  signalled_.store(true, std::memory_order_seq_cst);
}

void loop_event::drain() noexcept {
  base::drain_event(event_.get());
  signalled_.store(false, std::memory_order_seq_cst);
}

/// Too early is harmless: one turn more. The time is therefore not put off before it has come.
void loop_event::set_time(std::int64_t until_ns) noexcept {
  if (timer_ns_ <= until_ns && timer_ns_ > base::now_ns()) return;
  timer_ns_ = until_ns;
  itimerspec at{};
  if (until_ns != base::never_ns) {
    const std::int64_t ns = until_ns > 0 ? until_ns : 1;  // 0 would switch it off
    at.it_value = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);  // also takes back that it has come
}

}  // namespace ham::detail
