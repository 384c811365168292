// A timer descriptor of the simulation is an event descriptor, which is written to when its virtual time has come.
#include "sim/timers.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "sim/scheduler.hpp"

namespace ham::inline v1::sim {
namespace {

struct timer {
  int fd;
  std::int64_t due_ns;
};
/// Of all simulated processes.
std::vector<timer>& timers() {
  static auto* const all = new std::vector<timer>;
  return *all;
}

template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

std::int64_t fire_timers() noexcept {
  static auto* const write = next<decltype(::write)>("write");
  std::int64_t first_ns = never;
  for (timer& one : timers()) {
    if (one.due_ns <= running->now_ns()) {
      const std::uint64_t expirations = 1;
      static_cast<void>(write(one.fd, &expirations, sizeof expirations) == 0);
      one.due_ns = never;
    }
    first_ns = std::min(first_ns, one.due_ns);
  }
  return first_ns;
}

}  // namespace ham::sim

using namespace ham::sim;

extern "C" {

int timerfd_create(clockid_t clock, int flags) noexcept {
  static auto* const real = next<decltype(::timerfd_create)>("timerfd_create");
  if (!simulated()) return real(clock, flags);
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd >= 0) timers().push_back({fd, never});
  return fd;
}

int timerfd_settime(int fd, int flags, const itimerspec* to, itimerspec* before) noexcept {
  static auto* const real = next<decltype(::timerfd_settime)>("timerfd_settime");
  if (!simulated()) return real(fd, flags, to, before);
  const auto found = std::find_if(timers().begin(), timers().end(), [fd](const timer& one) { return one.fd == fd; });
  if (found == timers().end()) {
    errno = EBADF;
    return -1;
  }
  std::uint64_t expirations = 0;
  static_cast<void>(::read(fd, &expirations, sizeof expirations));  // to set it takes back that it has come
  const std::int64_t ns = static_cast<std::int64_t>(to->it_value.tv_sec) * 1'000'000'000 + to->it_value.tv_nsec;
  found->due_ns = ns == 0 ? never : (flags & TFD_TIMER_ABSTIME) != 0 ? ns : running->now_ns() + ns;
  return 0;
}

int close(int fd) {
  static auto* const real = next<decltype(::close)>("close");
  if (simulated()) std::erase_if(timers(), [fd](const timer& one) { return one.fd == fd; });
  return real(fd);
}

}  // extern "C"
