// What a thread does between attempts at something that other threads or processes must make possible first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"
#include "base/cpu.hpp"

namespace ham::inline v1::base {

/// How a wait becomes cheaper for others the longer it lasts: rounds that spin, then rounds that give the core away,
/// then sleeps.
struct backoff_schedule {
  static constexpr unsigned no_limit = UINT32_MAX;

  unsigned spins = 0;              ///< rounds
  unsigned yields = no_limit;      ///< rounds after those
  std::int64_t sleep_ns = 50'000;  ///< of each round after those
  std::int64_t max_sleep_ns = 0;   ///< each sleep is twice as long as the one before, up to this; 0: all alike
};

/// One wait of one thread: `backoff<backoff_schedule{.spins = 100}> pause; while (!attempt()) pause.wait();`. Its state
/// is one number, which costs nothing where the first attempt usually succeeds.
template <backoff_schedule Schedule>
class backoff {
 public:
  enum class step : std::uint8_t { spin, yield, sleep };

  /// What the next round is.
  [[nodiscard]] step next() const noexcept {
    if (round_ < Schedule.spins) return step::spin;
    return round_ < first_sleep || Schedule.yields == backoff_schedule::no_limit ? step::yield : step::sleep;
  }
  /// How long the next sleep is, or the first one if it is not its turn yet.
  [[nodiscard]] std::int64_t next_sleep_ns() const noexcept {
    if (next() != step::sleep || Schedule.max_sleep_ns <= Schedule.sleep_ns) return Schedule.sleep_ns;
    const unsigned doublings = std::min(round_ - first_sleep, 32U);
    return std::min(Schedule.sleep_ns << doublings, Schedule.max_sleep_ns);
  }
  /// A round: to be called after an attempt that failed. It does not sleep longer than `max_ns`; 0: it yields instead.
  void wait(std::int64_t max_ns = INT64_MAX) noexcept {
    switch (next()) {
      case step::spin: relax(); break;
      case step::yield: yield(); break;
      case step::sleep:
        if (max_ns > 0)
          sleep_ns(std::min(next_sleep_ns(), max_ns));
        else
          yield();
        break;
    }
    if (round_ < first_sleep)
      round_ += std::min(polls_left_out, first_sleep - round_);
    else if (round_ != UINT32_MAX)
      ++round_;
  }
  /// No round spins from now on until reset(): the one that is waited for may need this core.
  void skip_spins() noexcept { round_ = std::max(round_, Schedule.spins); }
  /// An attempt has brought something: the wait begins anew.
  void reset() noexcept { round_ = 0; }

 private:
  static constexpr unsigned first_sleep =
      Schedule.yields == backoff_schedule::no_limit ? UINT32_MAX : Schedule.spins + Schedule.yields;

  unsigned round_ = 0;
};

}  // namespace ham::base
