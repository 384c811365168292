// The times of all parts of a trace on one clock, that of the host, and how sure that is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/call_matching.hpp"
#include "trace/clock_fit.hpp"

namespace ham::inline v1::trace {

/// Of the parts that it was made of, which it does not keep.
class job_clocks {
 public:
  explicit job_clocks(const job_parts& parts);

  /// Finds the offsets from calls between each part and the host's, both ways.
  void fit(const job_parts& parts, const std::vector<traced_call>& calls);
  /// Raises bounds until no call begins on its node, and no answer comes, earlier than it was sent by more than the
  /// bounds of the two parts together.
  void widen(const job_parts& parts, const std::vector<traced_call>& calls);

  /// Nanoseconds on the host's monotonic clock.
  [[nodiscard]] double ns(std::uint32_t part, std::uint64_t ticks) const noexcept {
    constexpr double max_ns = 4e18;  // of a part that somebody has made up
    return std::clamp(base_ns_ + clocks_[part].line.to_reference(local(part, ticks)), 0.0, max_ns);
  }
  /// How far times of a part may be off beside those of the host; negative: not known.
  [[nodiscard]] double bound(std::uint32_t part) const noexcept { return clocks_[part].line.bound; }
  [[nodiscard]] const clock_line& line(std::uint32_t part) const noexcept { return clocks_[part].line; }
  [[nodiscard]] std::uint32_t reference() const noexcept { return reference_; }

 private:
  struct part_clock {
    std::uint64_t start_ticks = 0;
    double tick_ns = 1;
    double end = 0;          ///< of the part, in nanoseconds since the start
    bool is_shared = false;  ///< it is the host's
    clock_line line;
  };
  [[nodiscard]] double local(std::uint32_t part, std::uint64_t ticks) const noexcept {
    const part_clock& of = clocks_[part];
    return static_cast<double>(static_cast<std::int64_t>(ticks - of.start_ticks)) * of.tick_ns;
  }
  void widen(std::uint32_t one, std::uint32_t other, double backwards_ns) noexcept;

  std::vector<part_clock> clocks_;
  std::uint32_t reference_ = 0;
  double base_ns_ = 0;
};

}  // namespace ham::trace
