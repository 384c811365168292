// Tries the services of the kernel that HAM rests on.
#include "machine.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ham::inline v1::info {

namespace {

// The outcome of a system call that returned `result`; errors that prove the call exists count as success.
std::string outcome(long result, int harmless_error = 0) {
  if (result >= 0 || (harmless_error != 0 && errno == harmless_error)) return "yes";
  return std::string("no (") + std::strerror(errno) + ")";
}

std::string descriptor_outcome(long fd) {
  std::string text = outcome(fd);
  if (fd >= 0) close(static_cast<int>(fd));
  return text;
}

std::string expedited_membarrier() {
  const long known = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (known < 0) return outcome(known);
  return (known & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0 ? "yes" : "no (the kernel lacks the expedited form)";
}

std::string robust_list() {
  void* head = nullptr;
  std::size_t length = 0;
  return outcome(syscall(SYS_get_robust_list, 0, &head, &length));
}

}  // namespace

std::vector<property> kernel_services() {
  return {{"memfd_create", descriptor_outcome(memfd_create("ham-info", MFD_CLOEXEC)), "memory shared without a name"},
          {"eventfd", descriptor_outcome(eventfd(0, EFD_CLOEXEC)), "waking a sleeping node"},
          {"pidfd_open", descriptor_outcome(syscall(SYS_pidfd_open, getpid(), 0)), "death of a peer, second line"},
          {"robust futexes", robust_list(), "death of a peer, first line"},
          {"futex_waitv", outcome(syscall(SYS_futex_waitv, nullptr, 0, 0, nullptr, 0), EINVAL),
           "watching all peers at once"},
          {"expedited membarrier", expedited_membarrier(), "senders need no fence"}};
}

}  // namespace ham::info
