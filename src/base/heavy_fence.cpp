// Asymmetric fences by membarrier(2).
#include "base/heavy_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.hpp"

namespace ham::inline v1::base {
namespace {

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

bool register_all() noexcept {
  const long supported = membarrier(MEMBARRIER_CMD_QUERY);
  if (supported < 0) return false;
  const bool global = (supported & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) != 0 &&
                      membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
  const bool local = (supported & MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0 &&
                     membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  return global && local;
}

}  // namespace

bool register_heavy_fence() noexcept {
  static const bool registered = register_all();
  return registered;
}

bool heavy_fence() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return register_heavy_fence() && membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
}

void heavy_fence_private() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!register_heavy_fence() || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  // No processor keeps a store to itself for this long, and a thread that stops running gives up all it has.
  sleep_ns(5'000'000);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace ham::base
