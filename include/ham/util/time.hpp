// Timing of parts of a program, for benchmarks that include this header of the published HAM-Offload.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace ham::inline v1::util::time {

using clock = std::chrono::steady_clock;    ///< monotonic
using duration = std::chrono::nanoseconds;  ///< of all times here

/// Runs from its construction on.
class timer {
 public:
  /// Starts again from now.
  void reset() noexcept { begin_ = clock::now(); }
  /// Since the construction or the last reset().
  [[nodiscard]] duration elapsed() const noexcept {
    return std::chrono::duration_cast<duration>(clock::now() - begin_);
  }

 private:
  clock::time_point begin_ = clock::now();
};

/// Of measured times. The first `warm_up` of them do not count. Times are in nanoseconds; 0 if there is none.
class statistics {
 public:
  /// `expected`: room for so many times. `warm_up`: see above.
  explicit statistics(std::size_t expected = 0, std::size_t warm_up = 0) : skip_(warm_up) { times_.reserve(expected); }

  /// Adds one time, or drops it while warming up.
  void add(const timer& since) { add(since.elapsed()); }
  void add(duration time) {
    if (skip_ > 0)
      --skip_;
    else
      times_.push_back(static_cast<double>(time.count()));
  }

  /// Times that count.
  [[nodiscard]] std::size_t count() const noexcept { return times_.size(); }
  /// All together.
  [[nodiscard]] double sum() const { return std::accumulate(times_.begin(), times_.end(), 0.0); }
  /// The shortest one.
  [[nodiscard]] double smallest() const { return times_.empty() ? 0 : *std::min_element(times_.begin(), times_.end()); }
  /// The longest one.
  [[nodiscard]] double largest() const { return times_.empty() ? 0 : *std::max_element(times_.begin(), times_.end()); }
  /// Arithmetic mean.
  [[nodiscard]] double average() const { return times_.empty() ? 0 : sum() / static_cast<double>(count()); }
  /// The middle one, or the mean of the middle two.
  [[nodiscard]] double median() const {
    if (times_.empty()) return 0;
    std::vector<double> sorted = times_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
  /// Of the sample; 0 for fewer than two times.
  [[nodiscard]] double variance() const {
    if (count() < 2) return 0;
    const double mean = average();
    double squares = 0;
    for (const double time : times_) squares += (time - mean) * (time - mean);
    return squares / static_cast<double>(count() - 1);
  }
  [[nodiscard]] double std_error() const {
    return count() < 2 ? 0 : std::sqrt(variance() / static_cast<double>(count()));
  }

 private:
  std::vector<double> times_;
  std::size_t skip_;
};

}  // namespace ham::util::time
