// How a process has ended, in words.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace ham::inline v1::base {

/// Of a wait status: "was killed by signal 11 (Segmentation fault)", "exited with status 3".
[[nodiscard]] std::string describe_end(int wait_status);

/// The same of a process of this user on this machine that has begun to end, whoever its parent is; it is not reaped.
/// Empty if that is not known within `timeout`.
[[nodiscard]] std::string end_of(pid_t pid, std::chrono::microseconds timeout);

/// Whether the kernel says, within `timeout`, that a process has begun to end, all threads of it, or has gone. For news
/// of which nobody knows who has sent it. False also if the kernel does not say, as of a process that is not seen here,
/// or where /proc is missing and the end is not over.
[[nodiscard]] bool confirms_end(pid_t pid, std::chrono::microseconds timeout);

/// Whether there is a process of that number, perhaps one that has ended and was not reaped. Any number may be asked
/// for.
[[nodiscard]] bool process_is_there(std::int64_t pid);

/// The parent of a process, as /proc says; -1: that is not known.
[[nodiscard]] pid_t parent_of(pid_t pid);

/// For the kernel to confirm a death that was told of. It does at once, unless the machine is so busy that threads of
/// the dead process have not got a core to end on.
inline constexpr std::chrono::seconds confirm_timeout{1};

/// How a process ended, in memory that other processes read: written before it is reaped, after which /proc tells
/// nobody any more. All bits zero: not known.
class end_record {
 public:
  void record(int wait_status) noexcept { word_.store(wait_status | known, std::memory_order_release); }
  void clear() noexcept { word_.store(0, std::memory_order_relaxed); }
  /// As describe_end(); empty: not known.
  [[nodiscard]] std::string text() const {
    const std::int32_t word = word_.load(std::memory_order_acquire);
    return (word & known) != 0 ? describe_end(word & ~known) : std::string();
  }

 private:
  static constexpr std::int32_t known = 1 << 30;
  std::atomic<std::int32_t> word_;
};

}  // namespace ham::base
