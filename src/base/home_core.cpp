// Affinity of a sleeping thread.
#include "base/home_core.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "base/home_policy.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::base {

/// Used by its thread only, but for `over`: the object may go on another thread.
struct home_core::state {
  explicit state(unsigned cores) : policy(cores) {}
  std::atomic<bool> over{false};
  int core = -1;
  home_policy policy;
  std::int64_t next_move_ns = 0;
  std::int64_t next_count_ns = 0;
  unique_fd load, schedstat;  // of the kernel; without them nothing is let go
};

namespace {

constexpr std::int64_t between_moves_ns = 1'000'000;    // who moved the thread had a reason
constexpr std::int64_t between_counts_ns = 10'000'000;  // of the threads that want to run

constinit thread_local home_core::state* of_this_thread = nullptr;

/// Keeps it. A runtime may end after the variables of its thread (in a destructor of a library), hence the pointer.
struct keeping {
  ~keeping() {
    of_this_thread = nullptr;
    over = true;
  }
  std::shared_ptr<home_core::state> state;
  static constinit thread_local bool over;
};
constinit thread_local bool keeping::over = false;
thread_local keeping kept;

cpu_set_t only(int core) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  return set;
}

/// The number behind the first `separator` of a file of the kernel's; negative if there is none.
std::int64_t number_in(unique_fd& file, const char* name, const char* separators, int which) noexcept {
  if (!file) file.reset(::open(name, O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  const ssize_t size = ::pread(file.get(), text.data(), text.size() - 1, 0);
  const char* at = size > 0 ? text.data() : nullptr;
  for (int i = 0; i < which && at != nullptr; ++i) {
    at = std::strpbrk(at, separators);
    if (at != nullptr) ++at;
  }
  return at == nullptr ? -1 : std::strtoll(at, nullptr, 10);
}

/// Time that the calling thread has wanted to run and did not, so far.
std::int64_t queued_ns(home_core::state& mine) noexcept {
  return number_in(mine.schedstat, "/proc/thread-self/schedstat", " ", 1);
}

void count_running(home_core::state& mine, std::int64_t now) noexcept {
  if (now < mine.next_count_ns) return;
  mine.next_count_ns = now + between_counts_ns;
  const std::int64_t running = number_in(mine.load, "/proc/loadavg", " ", 3);  // "0.20 0.18 0.12 1/80 11206"
  if (running >= 0) mine.policy.count_running(static_cast<unsigned>(running), now);
}

}  // namespace

home_core::home_core(unsigned machine_cores)
    : state_(std::make_shared<state>(machine_cores != 0 ? machine_cores
                                                        : static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN)))) {}
home_core::~home_core() {
  state_->over.store(true);
  if (of_this_thread != state_.get()) return;
  of_this_thread = nullptr;
  kept.state.reset();
}

void home_core::adopt_thread() {
  if (keeping::over || (of_this_thread != nullptr && !of_this_thread->over.load())) return;
  kept.state = state_;
  of_this_thread = state_.get();
}

home_core::asleep::asleep(home_core& of, int core) noexcept : of_(of) {
  state& mine = *of.state_;
  if (of_this_thread != of.state_.get()) return;
  mine.core = core;
  if (core < 0) return;
  const std::int64_t now = now_ns();
  count_running(mine, now);
  if (!mine.policy.keeps(now)) return;
  if (::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  // Who binds the thread knows better.
  if (CPU_COUNT(&before_) < 2 || !CPU_ISSET(static_cast<unsigned>(core), &before_)) return;
  const cpu_set_t home = only(core);
  narrowed_ = ::sched_setaffinity(0, sizeof home, &home) == 0;
  queued_ns_ = queued_ns(mine);
}

home_core::asleep::~asleep() {
  if (!narrowed_) return;
  state& mine = *of_.state_;
  const std::int64_t queued = queued_ns(mine);
  cpu_set_t now;
  const cpu_set_t home = only(mine.core);
  // Else somebody has bound the thread meanwhile.
  if (::sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &home))
    ::sched_setaffinity(0, sizeof before_, &before_);
  if (queued_ns_ >= 0 && queued >= queued_ns_) mine.policy.count_wake(queued - queued_ns_, now_ns());
}

void home_core::go_home() noexcept {
  state* const mine = of_this_thread;
  if (mine == nullptr || mine->core < 0 || mine->over.load(std::memory_order_relaxed)) return;
  if (::sched_getcpu() == mine->core) return;
  const std::int64_t now = now_ns();
  if (now < mine->next_move_ns || !mine->policy.keeps(now)) return;
  mine->next_move_ns = now + between_moves_ns;
  cpu_set_t before;
  if (::sched_getaffinity(0, sizeof before, &before) != 0) return;
  if (CPU_COUNT(&before) < 2 || !CPU_ISSET(static_cast<unsigned>(mine->core), &before)) return;
  const cpu_set_t home = only(mine->core);
  if (::sched_setaffinity(0, sizeof home, &home) == 0) ::sched_setaffinity(0, sizeof before, &before);
}

}  // namespace ham::base
