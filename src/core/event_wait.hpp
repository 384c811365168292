// Sleep in the kernel until a transport has news, another thread says so, or the time has come.
#pragma once

#include <cstdint>

#include "base/unique_fd.hpp"

namespace ham::inline v1::detail {

/// One thread sleeps at a time; any may wake it.
class event_wait {
 public:
  /// Throws ham::config_error without descriptors.
  event_wait();

  /// Sleep ends when `fd` is readable, from now on.
  void watch(int fd) noexcept;
  /// Returns when a watched descriptor is readable, after wake(), at `until_ns` (base::now_ns()), or because of a
  /// signal. What wake() left is gone then.
  void sleep(std::int64_t until_ns) noexcept;
  /// Ends the sleep, or the next one. Through a pipe, whose writer hands its core to the reader: a thread that brings
  /// news sleeps again at once, and other cores may be busy for milliseconds.
  void wake() noexcept;

  // ---- instead of sleep(), for who waits elsewhere
  /// Readable when a sleep would end.
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }
  /// Takes back what wake() left.
  void drain() noexcept;

 private:
  void block(std::int64_t until_ns) noexcept;

  base::unique_fd epoll_;
  base::unique_fd wake_in_, wake_out_;  ///< a pipe
};

}  // namespace ham::detail
