// Durations sorted into buckets: four to each power of two, so that a bucket's bounds differ by a quarter at most.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ham::inline v1::base {

struct time_buckets {
  static constexpr unsigned bits = 2;                        ///< behind the leading one that tell buckets apart
  static constexpr std::uint64_t steps = 1U << bits;         ///< buckets per power of two
  static constexpr std::size_t count = steps * (46 - bits);  ///< the last one takes what is longer: hours, in ticks

  /// The bucket of a duration in ticks.
  [[nodiscard]] static constexpr std::size_t of(std::uint64_t ticks) noexcept {
    if (ticks < steps) return static_cast<std::size_t>(ticks);
    const auto power = static_cast<unsigned>(std::bit_width(ticks)) - 1;
    const std::uint64_t step = ticks >> (power - bits) & (steps - 1);
    return std::min<std::size_t>((power - bits + 1) * steps + step, count - 1);
  }
  /// The least duration that is too long for a bucket, in ticks; of the last one, as if there were another.
  [[nodiscard]] static constexpr std::uint64_t end_of(std::size_t bucket) noexcept {
    return bucket + 1 <= steps ? bucket + 1 : begin_of(bucket + 1);
  }
  /// The least duration of a bucket, in ticks.
  [[nodiscard]] static constexpr std::uint64_t begin_of(std::size_t bucket) noexcept {
    if (bucket < steps) return bucket;
    const std::uint64_t power = bucket / steps - 1 + bits;
    return (steps + bucket % steps) << (power - bits);
  }
};

}  // namespace ham::base
