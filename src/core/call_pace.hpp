// When calls begin, where reading the clock for each would take as long as the call.
#pragma once

#include <cstdint>
#include <utility>

#include "base/burst_clock.hpp"
#include "base/ticks.hpp"

namespace ham::inline v1::detail {

/// When the calls begin that a thread executes at once, one after the other: see burst_clock.
class call_pace {
 public:
  struct begin {
    std::uint64_t ticks;
    bool exact;  ///< the clock was read for it
  };
  /// Of a call of `function`. `polled_at`: it came behind this count of ticks, at once; 0: that is not known.
  [[nodiscard]] begin next(const void* function, std::uint64_t polled_at, bool exact) noexcept {
    const bool same = std::exchange(function_, function) == function;
    if (polled_at != 0 && !exact) {  // its caller waits
      clock_.restart(polled_at);
      return {polled_at, false};
    }
    if (same && !exact) {
      if (const std::uint64_t guessed = clock_.guess(); guessed != 0) return {guessed, false};
    }
    const std::uint64_t now = base::read_ticks();
    clock_.note(now);
    return {now, true};
  }
  /// The thread may have done something else.
  void restart() noexcept { clock_.restart(); }

 private:
  const void* function_ = nullptr;  ///< of the last call; a function of unlike calls may be quick and slow
  base::burst_clock<7> clock_;
};

}  // namespace ham::detail
