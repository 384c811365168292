// Medians of repeated operations.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace gpu_benchmark {

/// The median time of `rounds` executions of `what`, in us; a tenth as many before are not counted.
template <class Operation>
[[nodiscard]] double median_us(int rounds, Operation what) {
  using clock = std::chrono::steady_clock;
  std::vector<double> all;
  for (int i = -rounds / 10; i < rounds; ++i) {
    const auto begin = clock::now();
    what();
    const std::chrono::duration<double, std::micro> took = clock::now() - begin;
    if (i >= 0) all.push_back(took.count());
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace gpu_benchmark
