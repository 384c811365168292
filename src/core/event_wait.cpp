// Sleep in epoll; a pipe ends it.
#include "core/event_wait.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/refused_call.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {

event_wait::event_wait() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  int ends[2];
  if (!epoll_ || ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw config_error(
        "cannot make the descriptors that a runtime waits on" +
        base::refused_call(epoll_ ? "pipe2" : "epoll_create1", "raise the limit of open files (ulimit -n)"));
  }
  wake_out_.reset(ends[0]);
  wake_in_.reset(ends[1]);
  base::expect_epoll_calls(epoll_);
  watch(wake_out_.get());
}

void event_wait::watch(int fd) noexcept {
  epoll_event interest{EPOLLIN, {.fd = fd}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &interest);
}

void event_wait::sleep(std::int64_t until_ns) noexcept {
  block(until_ns);
  drain();
}

void event_wait::block(std::int64_t until_ns) noexcept {
  const bool for_ever = until_ns == base::never_ns;
  timespec left{};
  if (!for_ever) {
    const std::int64_t ns = std::max<std::int64_t>(0, until_ns - base::now_ns());
    left = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  }
  epoll_event event{};
  if (::epoll_pwait2(epoll_.get(), &event, 1, for_ever ? nullptr : &left, nullptr) >= 0 ||
      (errno != ENOSYS && errno != EPERM))
    return;
  // Kernels before 5.11 and emulators: milliseconds, rounded up.
  const long ms = std::min<long>(left.tv_sec, 3600) * 1000 + (left.tv_nsec + 999'999) / 1'000'000;
  ::epoll_wait(epoll_.get(), &event, 1, for_ever ? -1 : static_cast<int>(ms));
}

void event_wait::wake() noexcept {
  const char any = 0;
  static_cast<void>(!::write(wake_in_.get(), &any, 1));  // a full pipe does as well
}

void event_wait::drain() noexcept {
  std::array<char, 64> any{};
  while (::read(wake_out_.get(), any.data(), any.size()) == static_cast<ssize_t>(any.size())) {
  }
}

}  // namespace ham::detail
