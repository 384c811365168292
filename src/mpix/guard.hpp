// Runs kernels so that a crash ends the kernel, not the process: MPI ends the whole job when a process dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ham::inline v1::mpix {

class kernel;

struct run_outcome {
  int signal = 0;  ///< it crashed
  bool threw = false;
  std::int64_t result = 0;
  std::string text;  ///< what it threw
};

class guard {
 public:
  /// For kernels that this thread will run. One per process.
  explicit guard(int rank);
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;

  /// Takes SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT over. To be called before kernels: others may have taken them
  /// since.
  void take_signals() noexcept;

  /// After a crash the process is not to be trusted: if `report_received` is not called within the grace, or another
  /// signal comes, it ends, and with it the job.
  run_outcome run(kernel& what, const char* name, std::span<std::byte* const> arguments);

  void report_received() noexcept;

  /// Ends the process after the grace: the end of MPI may wait for siblings that wait for a kernel that crashed here.
  void limit_the_end() noexcept;
};

/// "SIGSEGV, bad address"
[[nodiscard]] const char* signal_text(int signal) noexcept;

}  // namespace ham::mpix
