// Timing of repeated operations in blocks: a typical cost without the clock's own, and single times for percentiles.
#pragma once

#include "statistics.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ham::inline v1::bench {

[[nodiscard]] inline std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Median time between two readings of the clock; measured once, on first use.
[[nodiscard]] inline double clock_cost_ns() {
  static const double cost = [] {
    std::vector<double> times;
    for (int i = 0; i < 2001; ++i) {
      const std::int64_t begin = now_ns();
      times.push_back(static_cast<double>(now_ns() - begin));
    }
    return median(std::move(times));
  }();
  return cost;
}

/// How long a block lasts and how it is cut.
struct block_plan {
  std::int64_t warm_up_ns = 3'000'000;  ///< not recorded: the other side wakes, caches and clocks settle
  std::int64_t length_ns = 25'000'000;  ///< half of it for groups, half for single times
  std::size_t group = 64;               ///< operations between two readings of the clock in the first half
  std::size_t min_rounds = 3;           ///< groups, and single times, taken even when the block is over
};

/// What one block found.
struct block_times {
  double typical_ns = 0;          ///< median over the groups of the mean time of one operation
  std::vector<double> single_ns;  ///< times of single operations, the clock's own cost taken off
};

/// Runs `operation` over and over as `plan` says. Floors and HAM go through this same function.
template <class Operation>
[[nodiscard]] block_times time_block(Operation&& operation, const block_plan& plan = {}) {
  constexpr std::size_t single_limit = 60'000;
  std::int64_t end = now_ns() + plan.warm_up_ns;
  do operation();
  while (now_ns() < end);

  std::vector<double> groups;
  std::int64_t begin = now_ns();
  end = begin + plan.length_ns / 2;
  while (begin < end || groups.size() < plan.min_rounds) {
    for (std::size_t i = 0; i < plan.group; ++i) operation();
    const std::int64_t after = now_ns();
    groups.push_back(static_cast<double>(after - begin) / static_cast<double>(plan.group));
    begin = after;
  }

  block_times result;
  result.single_ns.reserve(single_limit);
  begin = now_ns();
  end = begin + plan.length_ns / 2;
  while ((begin < end || result.single_ns.size() < plan.min_rounds) && result.single_ns.size() < single_limit) {
    operation();
    const std::int64_t after = now_ns();
    result.single_ns.push_back(static_cast<double>(after - begin) - clock_cost_ns());
    begin = now_ns();
  }
  result.typical_ns = quantile_in_place(groups, 0.5);
  return result;
}

}  // namespace ham::bench
