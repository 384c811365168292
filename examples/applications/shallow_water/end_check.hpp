// Whether the ends of runs are right: the worst of all repetitions counts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shallow_water/flow.hpp"

namespace shallow_water {

class end_check {
 public:
  /// `right` is the serial run's state after as many steps; without it that is not compared.
  end_check(const domain& of, std::uint64_t steps, std::optional<std::vector<double>> right);

  /// The state at the end of a run.
  void add(std::span<const double> state);

  /// Numbers that are not the serial run's, bit by bit, of all runs together.
  [[nodiscard]] std::uint64_t differences() const { return differences_; }
  /// The largest change of the volume relative to it, and as part of what rounding allows.
  [[nodiscard]] double volume_change() const { return volume_change_; }
  [[nodiscard]] double volume_share() const { return volume_change_ / volume_tolerance(steps_); }
  /// Runs that ended with depths that are negative or no numbers.
  [[nodiscard]] std::uint64_t unsound() const { return unsound_; }

  [[nodiscard]] bool all_right() const { return differences_ == 0 && volume_share() <= 1.0 && unsound_ == 0; }

 private:
  domain of_;
  std::uint64_t steps_;
  std::optional<std::vector<double>> right_;
  long double volume_before_;
  std::uint64_t differences_ = 0;
  double volume_change_ = 0.0;
  std::uint64_t unsound_ = 0;
};

}  // namespace shallow_water
