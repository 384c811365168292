// State of other processes from the kernel: processor time, private memory, whether all threads sleep; and starting
// one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ham::inline v1::bench {

/// Processor time that all threads of `pid` have used so far (the sum of utime and stime of /proc/PID/stat, in
/// nanoseconds instead of ticks). Throws std::runtime_error when there is no such process.
[[nodiscard]] std::int64_t cpu_time_ns(pid_t pid);

/// Bytes that only `pid` holds (Private_* of /proc/PID/smaps_rollup); nothing where that file cannot be read.
[[nodiscard]] std::optional<std::int64_t> private_bytes(pid_t pid);

/// True when every thread of `pid` sleeps in the kernel.
[[nodiscard]] bool is_asleep(pid_t pid);

/// Waits until `pid` sleeps; false if it still runs after `timeout`.
[[nodiscard]] bool wait_until_asleep(pid_t pid, std::chrono::milliseconds timeout);

/// Pins all threads that `pid` has now to `core`. Throws std::system_error.
void pin_process(pid_t pid, int core);

/// Starts this program again with `arguments`; `fd_as_three`, if not negative, becomes its descriptor 3.
/// The caller waits for the process. Throws std::system_error.
[[nodiscard]] pid_t spawn_self(const std::vector<std::string>& arguments, int fd_as_three = -1);

}  // namespace ham::bench
