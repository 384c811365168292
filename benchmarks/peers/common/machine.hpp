// Time, cores and processes of this machine.
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ham::inline v1::peers {

/// Monotonic, in nanoseconds.
inline std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

/// Processor time that a process has used, all its threads together, in nanoseconds.
inline std::int64_t processor_time_ns(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    throw std::runtime_error("the processor time of process " + std::to_string(process) + " cannot be read");
  }
  return std::int64_t{1'000'000'000} * used.tv_sec + used.tv_nsec;
}

/// Cores that this process may use, ascending.
inline std::vector<int> usable_cores() {
  std::vector<int> cores;
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &usable)) cores.push_back(core);
  }
  return cores;
}

/// Keeps the calling thread, and all that it starts from now on, on one core.
inline void pin_to(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  if (::sched_setaffinity(0, sizeof one, &one) != 0) {
    throw std::runtime_error("this process may not run on core " + std::to_string(core));
  }
}

/// The calling process is killed when its parent ends.
inline void end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

}  // namespace ham::peers
