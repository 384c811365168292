// The time of what a thread does many times in quick succession.
#pragma once

#include <cstdint>

#include "base/ticks.hpp"

namespace ham::inline v1::base {

/// Reading the clock takes as long as a small call. Behind two readings in quick succession the time is guessed for up
/// to `Unread` times. Where ticks are those of the clock itself it is always read. One thread.
template <std::uint32_t Unread>
class burst_clock {
 public:
  /// A tick more than last time, at most some us early if what was done since then was quick, too; 0: the clock is to
  /// be read, and note() to be told.
  [[nodiscard]] constexpr std::uint64_t guess() noexcept {
    if (left_ == 0) return 0;
    --left_;
    return ++last_;
  }
  /// `now`: read_ticks().
  constexpr void note(std::uint64_t now) noexcept {
    const bool quick = own_tick_source != tick_source::clock && now - last_ < quick_ticks;
    left_ = quick ? Unread : 0;
    last_ = now;
  }
  /// Nothing is guessed from an earlier reading than `from`, if that is not 0, nor from any other.
  constexpr void restart(std::uint64_t from = 0) noexcept {
    left_ = 0;
    last_ = from;
  }

 private:
  std::uint64_t last_ = 0;
  std::uint32_t left_ = 0;
};

}  // namespace ham::base
