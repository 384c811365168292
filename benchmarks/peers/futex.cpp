// Shared memory and the futex system call: what a program does that wants a sleeping server and no library.
#include <linux/futex.h>
#include <sys/syscall.h>

#include <climits>

#include "common/program.hpp"
#include "common/shared_slots.hpp"

namespace {

using namespace ham::peers;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  static_assert(sizeof word == sizeof(std::uint32_t));
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

/// Sleeps at once; who sends asks before it pays for a wake-up.
class sleeping {
 public:
  void await(std::atomic<std::uint32_t>& number, std::uint32_t wanted) {
    while (true) {
      const std::uint32_t found = number.load(std::memory_order_acquire);
      if (found == wanted) return;
      asleep_.store(1, std::memory_order_seq_cst);
      if (number.load(std::memory_order_seq_cst) == found) futex(number, FUTEX_WAIT, found);
      asleep_.store(0, std::memory_order_relaxed);
    }
  }
  void notify(std::atomic<std::uint32_t>& number) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed) != 0) futex(number, FUTEX_WAKE, INT_MAX);
  }

 private:
  alignas(64) std::atomic<std::uint32_t> asleep_{0};
};

}  // namespace

int main(int argc, char** argv) {
  auto& area = shared_area<sleeping>::make();
  return run_forked(
      argc, argv, {"futex", "-", "slots in shared memory, FUTEX_WAIT without spinning, FUTEX_WAKE if the other sleeps"},
      [&](const server_process::announce& ready) {
        ready();
        serve_shared(area);
      },
      [&](description&) { return std::make_unique<shared_client<sleeping>>(area); });
}
