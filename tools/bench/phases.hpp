// Pauses of random length before operations over a link that one side polls by reads that take long.
//
// Such an exchange takes a whole number of polls. Without pauses both sides run in step, and a few nanoseconds decide
// whether each message just meets the poll or always misses it by as much: the cost of an exchange jumps by a whole
// round trip of the link. With pauses it is the average over all moments at which a message may come.
#pragma once

#include "timing.hpp"

#include <cstdint>
#include <random>

namespace ham::inline v1::bench {

class phases {
 public:
  /// Pauses of 0 to `period_ns`; 0: none.
  explicit phases(std::int64_t period_ns) : period_ns_(period_ns), length_(0, period_ns) {}

  /// Runs `operation` as time_block() does, a pause before each. The typical time is that of the operation alone; with
  /// pauses there are no single times.
  template <class Operation>
  [[nodiscard]] block_times time(Operation operation, const block_plan& plan) {
    if (period_ns_ == 0) return time_block(operation, plan);
    std::int64_t paused_ns = 0;
    std::int64_t count = 0;
    block_times result = time_block(
        [&] {
          paused_ns += pause();
          ++count;
          operation();
        },
        plan);
    const double mean_ns = static_cast<double>(paused_ns) / static_cast<double>(count) + clock_cost_ns();
    result.typical_ns -= mean_ns;
    result.single_ns.clear();
    return result;
  }

 private:
  /// How long it was to last: what a preemption adds is not taken off.
  std::int64_t pause() {
    const std::int64_t length_ns = length_(random_);
    const std::int64_t end = now_ns() + length_ns;
    while (now_ns() < end) {
    }
    return length_ns;
  }

  std::int64_t period_ns_;
  std::minstd_rand random_{1};
  std::uniform_int_distribution<std::int64_t> length_;
};

}  // namespace ham::bench
