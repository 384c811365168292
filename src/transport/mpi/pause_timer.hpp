// Sleep between polls at something that wakes nobody: pauses that grow while nothing comes.
#pragma once

#include <sys/timerfd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/event_fds.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::transport::mpi {

class pause_timer {
 public:
  /// Pauses of at most `max_ns`. Throws ham::config_error.
  explicit pause_timer(std::int64_t max_ns) : max_ns_(max_ns), fd_(base::make_timer()) {}

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Something came: the next pause is a short one.
  void reset() noexcept { next_ns_ = shortest_ns; }
  /// Makes fd() readable when the next pause is over.
  void start() noexcept {
    const std::int64_t now = std::min(next_ns_, max_ns_);
    next_ns_ = std::min(2 * now, max_ns_);
    set(now);
    if (woken_.exchange(false)) set(1);
  }
  /// Ends the pause, or the next one. Any thread.
  void wake() noexcept {
    woken_.store(true);
    set(1);
  }
  void stop() noexcept { woken_.store(false); }

 private:
  static constexpr std::int64_t shortest_ns = 50'000;

  void set(std::int64_t ns) const noexcept {
    const itimerspec when{{}, {ns / 1'000'000'000, ns % 1'000'000'000}};
    ::timerfd_settime(fd_.get(), 0, &when, nullptr);
  }

  const std::int64_t max_ns_;
  std::int64_t next_ns_ = shortest_ns;
  base::unique_fd fd_;
  std::atomic<bool> woken_{false};
};

}  // namespace ham::transport::mpi
