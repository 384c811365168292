// System calls, and what to say when they are refused.
#include "base/event_fds.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/clock.hpp"
#include "base/refused_call.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {

unique_fd make_epoll() {
  unique_fd made(::epoll_create1(EPOLL_CLOEXEC));
  if (!made) {
    throw config_error("cannot make an epoll descriptor" +
                       refused_call("epoll_create1", "raise the limit of open files (ulimit -n)"));
  }
  expect_epoll_calls(made);
  return made;
}

void expect_epoll_calls(const unique_fd& epoll) {
  constexpr const char* waits = "cannot wait for descriptors";
  expect_allowed(waits, "epoll_ctl", ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, -1, nullptr));
  epoll_event event{};
  // What the C library calls; not by its function, which is a step of simulations.
#ifdef SYS_epoll_wait
  expect_allowed(waits, "epoll_wait", ::syscall(SYS_epoll_wait, epoll.get(), &event, 1, 0));
#else
  expect_allowed(waits, "epoll_pwait", ::syscall(SYS_epoll_pwait, epoll.get(), &event, 1, 0, nullptr, 0));
#endif
#ifdef SYS_poll
  expect_allowed(waits, "poll", ::syscall(SYS_poll, nullptr, 0, 0));
#else
  constexpr timespec at_once{};
  expect_allowed(waits, "ppoll", ::syscall(SYS_ppoll, nullptr, 0, &at_once, nullptr, 0));
#endif
}

unique_fd make_event() {
  unique_fd made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) {
    throw config_error("cannot make an event descriptor" +
                       refused_call("eventfd2", "raise the limit of open files (ulimit -n)"));
  }
  return made;
}

unique_fd make_timer() {
  unique_fd made(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!made) {
    throw config_error("cannot make a timer descriptor" +
                       refused_call("timerfd_create", "raise the limit of open files (ulimit -n)"));
  }
  constexpr itimerspec never{};
  expect_allowed("cannot set a timer", "timerfd_settime",
                 ::syscall(SYS_timerfd_settime, made.get(), 0, &never, nullptr));
  return made;
}

void signal_event(int event) noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event, &one, sizeof one);
}

void drain_event(int event) noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(event, &count, sizeof count);
}

void watch(int epoll, int fd, std::uint32_t events, void* tag) noexcept {
  epoll_event interest{events, {.ptr = tag}};
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest);
}

void change_watch(int epoll, int fd, std::uint32_t events, void* tag) noexcept {
  epoll_event interest{events, {.ptr = tag}};
  ::epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &interest);
}

void unwatch(int epoll, int fd) noexcept { ::epoll_ctl(epoll, EPOLL_CTL_DEL, fd, nullptr); }

int milliseconds_until(std::int64_t time_ns) noexcept {
  if (time_ns == never_ns) return -1;
  const std::int64_t left_ns = std::max<std::int64_t>(0, time_ns - now_ns());
  return static_cast<int>(std::min<std::int64_t>(left_ns / 1'000'000 + 1, 3'600'000));
}

}  // namespace ham::base
