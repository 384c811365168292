// How far the clock of one process is from that of another, from calls between them, and how sure that is.
// Source: Cristian, "Probabilistic clock synchronization" (1989): a round trip bounds the offset from both sides.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace ham::inline v1::trace {

/// What one call says of the offset, which is added to times of the process to get times of the reference. Nanoseconds.
struct offset_limits {
  double at = 0;  ///< when, by the clock of the process
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

/// The offset as a line.
struct clock_line {
  double at = 0;
  double offset = 0;  ///< at that time
  double drift = 0;   ///< by which it grows with each nanosecond
  double bound = -1;  ///< the offset is off by this at most; negative: not known
  std::size_t samples = 0;

  [[nodiscard]] double to_reference(double ns) const noexcept { return ns + offset + drift * (ns - at); }
};

/// `same_clock`: both read one clock of one machine, which has no drift. `begin`, `end`: between which the line will be
/// used.
[[nodiscard]] clock_line fit_clock(const std::vector<offset_limits>& samples, bool same_clock, double begin,
                                   double end);

}  // namespace ham::trace
