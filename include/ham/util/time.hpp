// Timing of parts of a program, for benchmarks that include this header of the published HAM-Offload.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <locale>
#include <numeric>
#include <ratio>
#include <sstream>
#include <string>
#include <vector>

#include "ham/error.hpp"

// Names of members here, and of macros elsewhere.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

namespace ham::inline v1::util::time {

using clock = std::chrono::steady_clock;                      ///< monotonic
using rep = double;                                           ///< of all times here, so that means keep fractions
using period = std::nano;                                     ///< their unit
using duration = std::chrono::duration<rep, period>;          ///< of all times here
using time_point = std::chrono::time_point<clock, duration>;  ///< what now() of the clock converts to

/// Runs from its construction on.
class timer {
 public:
  using clock = time::clock;            ///< monotonic
  using rep = time::rep;                ///< of a duration
  using period = time::period;          ///< of a duration
  using duration = time::duration;      ///< what elapsed() returns
  using time_point = time::time_point;  ///< of the begin

  /// Starts again from now.
  void reset() noexcept { begin_ = clock::now(); }
  /// Since the construction or the last reset().
  [[nodiscard]] duration elapsed() const noexcept { return clock::now() - begin_; }

 private:
  clock::time_point begin_ = clock::now();
};

/// What statistics say of the spread of times: a number, which programs also take as a duration.
class spread {
 public:
  using rep = time::rep;  ///< of the number

  /// Of so many nanoseconds, or their square.
  explicit constexpr spread(rep value) noexcept : value_(value) {}
  /// The number.
  [[nodiscard]] constexpr rep count() const noexcept { return value_; }
  /// The same.
  constexpr operator rep() const noexcept { return value_; }  // NOLINT(google-explicit-constructor): see above
  /// So many nanoseconds.
  constexpr operator duration() const noexcept { return duration(value_); }  // NOLINT(google-explicit-constructor)

 private:
  rep value_;
};

/// Of measured times. The first `warm_up` of them do not count. Without any, all figures are 0.
class statistics {
 public:
  using clock = time::clock;            ///< monotonic
  using rep = time::rep;                ///< of a duration
  using period = time::period;          ///< of a duration
  using duration = time::duration;      ///< of a time
  using time_point = time::time_point;  ///< of the clock

  /// `expected`: room for so many times. `warm_up`: see above.
  explicit statistics(std::size_t expected = 0, std::size_t warm_up = 0) : skip_(warm_up) { times_.reserve(expected); }

  /// Adds one time, or drops it while warming up.
  void add(const timer& since) { add(since.elapsed()); }
  void add(duration time) {
    if (skip_ > 0)
      --skip_;
    else
      times_.push_back(time.count());
  }

  /// Times that count.
  [[nodiscard]] std::size_t count() const noexcept { return times_.size(); }
  /// All together.
  [[nodiscard]] duration sum() const { return duration(std::accumulate(times_.begin(), times_.end(), rep{0})); }
  /// The shortest one.
  [[nodiscard]] duration min() const {
    return duration(times_.empty() ? 0 : *std::min_element(times_.begin(), times_.end()));
  }
  /// The longest one.
  [[nodiscard]] duration max() const {
    return duration(times_.empty() ? 0 : *std::max_element(times_.begin(), times_.end()));
  }
  /// Arithmetic mean.
  [[nodiscard]] duration average() const {
    return times_.empty() ? duration::zero() : sum() / static_cast<rep>(count());
  }
  /// The middle one, or the mean of the middle two.
  [[nodiscard]] duration median() const {
    if (times_.empty()) return duration::zero();
    std::vector<rep> sorted = times_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return duration(sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2);
  }
  /// Of the sample, in square nanoseconds; 0 for fewer than two times, as what follows.
  [[nodiscard]] spread variance() const {
    if (count() < 2) return spread(0);
    const rep mean = average().count();
    rep squares = 0;
    for (const rep time : times_) squares += (time - mean) * (time - mean);
    return spread(squares / static_cast<rep>(count() - 1));
  }
  /// Of the mean.
  [[nodiscard]] spread std_error() const {
    return spread(count() < 2 ? 0 : std::sqrt(variance().count() / static_cast<rep>(count())));
  }
  /// The same, divided by the mean.
  [[nodiscard]] rep relative_std_error() const {
    return average() == duration::zero() ? 0 : std_error().count() / average().count();
  }
  /// Half of the interval that the true mean is in with a probability of 95 %, of times in a normal distribution.
  [[nodiscard]] spread conf95_error() const { return spread(1.96 * std_error().count()); }

  /// Names of what string() gives, separated by tabs.
  [[nodiscard]] static std::string header_string() {
    return "average\tmedian\tmin\tmax\tvariance\tstd_error\trelative_std_error\tconf95_error\tcount";
  }
  /// A line of a table: all figures, times in nanoseconds.
  [[nodiscard]] std::string string() const {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << average().count() << '\t' << median().count() << '\t' << min().count() << '\t' << max().count() << '\t'
         << variance().count() << '\t' << std_error().count() << '\t' << relative_std_error() << '\t'
         << conf95_error().count() << '\t' << count();
    return text.str();
  }
  /// Replaces the file `name` by the times, in nanoseconds, one a line in their order. Throws ham::error if it cannot
  /// be written.
  void to_file(const std::string& name) const {
    std::ofstream file(name);
    file.imbue(std::locale::classic());
    file.precision(17);
    for (const rep time : times_) file << time << '\n';
    if (!file.flush()) throw ham::error("the file " + name + " with measured times cannot be written");
  }

 private:
  std::vector<rep> times_;
  std::size_t skip_;
};

}  // namespace ham::util::time

#pragma pop_macro("max")
#pragma pop_macro("min")
