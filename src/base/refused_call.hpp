// What to say of a system call that the kernel has refused.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace ham::inline v1::base {

/// Reason and way out, to be appended to what could not be done: " (reason); way out". From errno. Where filters of
/// system calls (seccomp) answer in place of the kernel, no limit has been reached, and `advice` would mislead.
[[nodiscard]] inline std::string refused_call(const char* call, const std::string& advice) {
  const int error = errno;
  const bool filtered = error == EPERM || error == ENOSYS;
  return std::string(" (") + std::strerror(error) + "); " +
         (filtered ? "allow the system call " + std::string(call) +
                         ", which a filter forbids (seccomp, as of a container or a service)"
                   : advice);
}

}  // namespace ham::base
