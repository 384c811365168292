// A process whose kernel refuses some system calls, as in containers and sandboxes.
#pragma once

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::test {

struct named_call {
  const char* name;
  long number;
};

/// From now on a system call fails with `error`, in the calling thread, threads and processes that it starts, and
/// across exec. May be called for several ones. False where there are no filters of system calls.
inline bool forbid(long call, int error = EPERM) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// The same for calls whose second argument is `command`, as of fcntl.
inline bool forbid_command(long call, int command) {
  constexpr bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + 8 + (little ? 0 : 4)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(command), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Whether there are filters of system calls here, as a process of its own finds out once.
inline bool can_forbid() {
  static const bool can = [] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(forbid(SYS_membarrier) ? 0 : 1);
    int status = -1;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
  }();
  return can;
}

/// The exit status of a process in which a system call fails with `error`, and `begin` is called. 0: it throws an error
/// that names the call; 1: it throws none; 2: there are no filters here; 3: its error speaks of something else.
inline int status_without(long call, int error, const std::string& name, void (*begin)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!forbid(call, error)) ::_exit(2);
    try {
      begin();
    } catch (const config_error& why) {
      ::_exit(std::string(why.what()).find("allow the system call " + name) != std::string::npos ? 0 : 3);
    }
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

inline bool forbid_membarrier() { return forbid(SYS_membarrier); }

}  // namespace ham::test
