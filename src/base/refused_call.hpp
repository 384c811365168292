// What to say of a system call that the kernel has refused.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace ham::inline v1::base {

/// Whether filters of system calls (seccomp) answer so in place of the kernel.
[[nodiscard]] constexpr bool is_refused(int error) noexcept { return error == EPERM || error == ENOSYS; }

/// Reason and way out, to be appended to what could not be done: " (reason); way out". From errno. Where filters
/// answer, no limit has been reached, and `advice` would mislead.
[[nodiscard]] inline std::string refused_call(const char* call, const std::string& advice) {
  const int error = errno;
  return std::string(" (") + std::strerror(error) + "); " +
         (is_refused(error) ? "allow the system call " + std::string(call) +
                                  ", which a filter forbids (seccomp, as of a container or a service)"
                            : advice);
}

}  // namespace ham::base
