// Short naps in a burst, longer ones while something may be owed, a futex otherwise.
#include "transport/tcp/flusher.hpp"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/thread.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

constexpr std::int64_t short_nap_ns = 50'000;
constexpr std::int64_t long_nap_ns = 2'000'000;
constexpr int quiet_naps = 4;    // short ones, before longer ones
constexpr int quiet_rounds = 8;  // of both kinds, before it goes to sleep

timespec as_time(std::int64_t ns) noexcept { return {0, static_cast<long>(ns)}; }

}  // namespace

void flusher::start(round work) {
  work_ = std::move(work);
  thread_ = base::start_thread([this] { run(); });
}

void flusher::stop() noexcept {
  if (!thread_.joinable()) return;
  stop_.store(true);
  wake();
  thread_.join();
}

void flusher::wake() noexcept {
  rest_.store(awake);
  ::syscall(SYS_futex, &rest_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Looks once more after it has said that it rests: whoever has work by then sees it and wakes it.
void flusher::lie_down(std::uint32_t how) noexcept {
  rest_.store(how);
  const found what = work_(false);
  const bool stay = !stop_.load() && (how == asleep ? what == found::nothing : what != found::bytes_waiting);
  const timespec time = as_time(long_nap_ns);
  while (stay && rest_.load() == how) {
    ::syscall(SYS_futex, &rest_, FUTEX_WAIT_PRIVATE, how, how == asleep ? nullptr : &time, nullptr, 0);
    if (how == napping) break;
  }
  rest_.store(awake);
}

void flusher::run() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  int quiet = 0;
  std::int64_t next_long = 0;
  while (!stop_.load()) {
    const std::int64_t now = base::now_ns();
    const bool long_round = now >= next_long;
    if (long_round) next_long = now + long_nap_ns;
    const found what = work_(long_round);
    quiet = what == found::bytes_waiting                           ? 0
            : what == found::something_owed && quiet >= quiet_naps ? quiet_naps
                                                                   : quiet + 1;
    if (quiet < quiet_naps) {
      base::sleep_ns(short_nap_ns);
    } else if (quiet < quiet_rounds) {
      lie_down(napping);
    } else {
      lie_down(asleep);
      quiet = quiet_naps - 1;
    }
  }
}

}  // namespace ham::transport::tcp
