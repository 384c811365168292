// What to say of a system call that the kernel has refused.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "ham/error.hpp"

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

/// `what` cannot be done if a filter has given that result of a system call. Throws ham::config_error. To try a call
/// without consequences, it is made for no descriptor, which the kernel itself answers with another error.
inline void expect_allowed(const char* what, const char* call, long result) {
  if (result < 0 && is_refused(errno)) throw config_error(what + refused_call(call, {}));
}

}  // namespace ham::base
