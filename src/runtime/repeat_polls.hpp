// When a node that executes the stages of a repeat by itself asks for what has arrived.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"

namespace ham::inline v1::detail {

/// Asked once in each iteration, which may take nanoseconds or minutes: reading the clock in each would cost the quick
/// ones more than they take. One thread at a time.
class repeat_polls {
 public:
  /// Runs `what` some 100 us behind the last time, or later if that took long: at most 10 ms. Quick iterations get
  /// there up to 64 of them later.
  template <class What>
  void poll(What what) {
    if ((++asked_ & skipped_) != 0) [[likely]]
      return;
    const std::int64_t begin_ns = base::now_ns();
    const bool slow = begin_ns - read_ns_ > quick_ns * (skipped_ + 1);
    skipped_ = slow ? 0 : std::min(2 * skipped_ + 1, max_skipped);
    read_ns_ = begin_ns;
    if (begin_ns < next_ns_) return;
    what();
    read_ns_ = base::now_ns();
    next_ns_ = read_ns_ + std::clamp(10 * (read_ns_ - begin_ns), interval_ns, max_interval_ns);
  }

 private:
  static constexpr std::int64_t quick_ns = 1'000;  // that an iteration takes, for the clock to be read less often
  static constexpr std::int64_t interval_ns = 100'000;
  static constexpr std::int64_t max_interval_ns = 10'000'000;
  static constexpr std::uint32_t max_skipped = 63;

  std::uint32_t asked_ = 0;
  std::uint32_t skipped_ = 0;  ///< 2^n - 1: one of so many iterations and one reads the clock
  std::int64_t read_ns_ = 0;
  std::int64_t next_ns_ = 0;
};

}  // namespace ham::detail
