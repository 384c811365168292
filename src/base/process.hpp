// Starting and ending child processes without a trace left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/process_end.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::base {

/// What a child has in place of this process's standard output and error; negative: those. None of these is a standard
/// descriptor itself.
struct output_fds {
  int out = -1;
  int err = -1;
};

struct process_request {
  std::vector<std::string> command;            ///< path and arguments; a bare name is looked up in PATH
  std::vector<std::string> extra_environment;  ///< NAME=value, in addition to this process's own
  int inherited_fd = -1;                       ///< stays open in the child under the same number
  std::vector<int> cpus;                       ///< cores the child may run on; empty: as the parent
  std::string shown_name = {};                 ///< argv[0]; empty: the command's first word
  end_record* end = nullptr;                   ///< told before the child is reaped; lives as long as `process`
  output_fds output = {};                      ///< stay this process's
};

struct process {
  pid_t pid = -1;
  unique_fd pid_fd;
  end_record* end = nullptr;
};

/// This process's environment with `extra` (NAME=value) in place of what has those names; and what the program has set
/// for HAM (settings.hpp), unless `extra` says otherwise.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::string>& extra);
/// Pointers to the texts, and nullptr, for execve; they last as long as `texts`.
[[nodiscard]] std::vector<char*> pointers(const std::vector<std::string>& texts);

/// Starts a child that the kernel kills when the calling thread ends (so call it from a thread that lives as long as
/// the children may). Throws ham::config_error with the reason.
[[nodiscard]] process start_process(const process_request& what);

/// Waits for the end of the child for at most `timeout`; what describe_end says of it, or
/// empty if it still runs. The child is reaped.
[[nodiscard]] std::string wait_for_end(const process& child, std::chrono::milliseconds timeout);

/// SIGKILL. Harmless if the child has ended; without effect where the kernel refuses kill as well as pidfd_send_signal.
void kill_process(const process& child) noexcept;

/// Whether it is a child of this process that has not been reaped: its number cannot be another process's by now.
[[nodiscard]] bool is_own_child(pid_t pid);

/// SIGKILL for such a child, by a call that the kernel allows. 0, also if it has ended; else errno.
[[nodiscard]] int kill_child(pid_t pid) noexcept;

/// Both: false, and nothing has happened, if it is none, or cannot be killed.
[[nodiscard]] bool kill_if_own_child(pid_t pid) noexcept;

/// Number of cores that this process could run on when it started.
[[nodiscard]] unsigned usable_cores() noexcept;
/// The one core that the calling thread may use; -1: it may use several.
[[nodiscard]] int only_core() noexcept;

/// Allows as many open files as the hard limit permits.
void raise_file_limit() noexcept;

}  // namespace ham::base
