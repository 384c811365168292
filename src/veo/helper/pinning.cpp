// sched_setaffinity.
#include "pinning.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "../settings.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::veo {
namespace {

std::vector<int> cores;  // of the process, before it was bound; empty: it is not
std::atomic<std::size_t> next_core{0};

bool bind_to(std::size_t number) noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cores[number % cores.size()], &one);
  return ::sched_setaffinity(0, sizeof one, &one) == 0;
}

}  // namespace

void pin_helper() {
  const std::optional<std::size_t> number = core_number();
  if (!number) return;
  cores = usable_cores();
  next_core = *number + 1;
  if (!bind_to(*number)) {
    throw config_error("cannot bind this helper to core " + std::to_string(cores[*number]) +
                       ", which VE_CORE_NUMBER asks for: sched_setaffinity failed");
  }
}

void pin_context() noexcept {
  if (cores.empty() || ::syscall(SYS_gettid) == ::getpid()) return;
  static_cast<void>(bind_to(next_core.fetch_add(1)));
}

}  // namespace ham::veo
