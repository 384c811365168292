// The shallow water equations on a rectangle with walls: explicit finite volumes of first order, Rusanov's flux.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shallow_water {

inline constexpr double gravity = 9.81;
inline constexpr std::size_t max_side = 1'000'000;

/// A domain of width 1 in x; cells are squares.
struct domain {
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;

  [[nodiscard]] double cell() const { return 1.0 / static_cast<double>(columns); }
  /// Constant, and stable for depths that begin below `max_depth`: waves of both directions pass less than a cell.
  [[nodiscard]] double time_step() const;
  /// Numbers of a field in a row: a cell more at each end, beyond the wall.
  [[nodiscard]] std::size_t field() const { return columns + 2; }
  /// Numbers in a row: depth h, then momenta hu and hv.
  [[nodiscard]] std::size_t row() const { return 3 * field(); }
  [[nodiscard]] std::size_t size() const { return rows * row(); }
};

/// The highest depth that initial_state gives.
inline constexpr double max_depth = 2.5;

/// All rows at time 0: water at rest, with two hills of different size.
[[nodiscard]] std::vector<double> initial_state(const domain& of);

/// The water's volume, summed row by row in extended precision.
[[nodiscard]] long double volume(const domain& of, std::span<const double> state);
/// What rounding may change of the volume, relative to it, in `steps` steps: four roundings per cell and step.
[[nodiscard]] double volume_tolerance(std::uint64_t steps);
/// Whether all depths are positive and finite.
[[nodiscard]] bool is_sound(const domain& of, std::span<const double> state);

/// Rows [first, last) of the domain, with a row more on each side: of the neighbour, or beyond the wall.
class block {
 public:
  block(const domain& of, std::size_t first, std::size_t last);

  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] std::size_t last() const { return last_; }
  /// Rows [first - 1, last + 1) now, as far as the domain has them; `state` is of all rows of the domain.
  void load(std::span<const double> state);
  /// Row `number` of the domain, first - 1 .. last, now and after the step that is being computed.
  [[nodiscard]] std::span<double> row(std::size_t number) { return row_of(now_, number); }
  [[nodiscard]] std::span<double> next_row(std::size_t number) { return row_of(next_, number); }
  /// Its own rows.
  [[nodiscard]] std::span<const double> own_rows() const;

  /// Once per step, before it: the rows beyond the walls, where the block is at one.
  void reflect();
  /// A step of rows [from, to). The same operations in the same order for each cell, whatever the block is.
  void advance(std::size_t from, std::size_t to);
  /// The step is complete.
  void swap() { now_.swap(next_); }

 private:
  [[nodiscard]] std::span<double> row_of(std::vector<double>& rows, std::size_t number);

  domain of_;
  std::size_t first_, last_;
  std::vector<double> now_, next_;
  std::vector<double> flux_x_, flux_below_, flux_above_;
};

/// Rows of part `index` of `parts`.
struct row_range {
  std::size_t first, last;
};
[[nodiscard]] row_range part_of(const domain& of, std::size_t index, std::size_t parts);

}  // namespace shallow_water
