// Half of a coupled model: a plate that conducts heat, with another one at its lower edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coupled {

class field {
 public:
  /// Columns x rows points, of which the outermost ones keep the temperature `edge`; the others begin with `inner`.
  field(std::uint64_t columns, std::uint64_t rows, double inner, double edge);

  /// `sweeps` explicit steps in time, with the other plate's points at the lower edge. Gives the row next to that edge,
  /// which the other plate gets.
  std::vector<double> step(std::span<const double> edge, std::uint64_t sweeps);

  [[nodiscard]] const std::vector<double>& points() const { return now_; }

 private:
  std::size_t columns_, rows_;
  std::vector<double> now_, next_;
};

}  // namespace coupled
