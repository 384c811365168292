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

  [[nodiscard]] std::vector<double> points() const;

 private:
  static constexpr std::size_t page = 4096 / sizeof(double);

  [[nodiscard]] double* now() { return plates_.data() + (flipped_ ? distance_ : 0); }
  [[nodiscard]] double* next() { return plates_.data() + (flipped_ ? 0 : distance_); }

  std::size_t columns_, rows_;
  /// Between the two plates: half a page more than whole ones. What a loop stores in one is not taken for what it loads
  /// of the other one next, as processors do that compare the places within a page.
  std::size_t distance_;
  std::vector<double> plates_;
  bool flipped_ = false;
};

}  // namespace coupled
