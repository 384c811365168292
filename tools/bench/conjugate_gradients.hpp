// A system of equations that targets hold in blocks, solved by conjugate gradients: by a loop of the host, and by a
// recorded graph whose repeat runs on the targets until it has converged.
#pragma once

#include <ham/offload.hpp>
#include <ham/offload/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ham::inline v1::bench {

/// What goes from iteration to iteration.
struct cg_state {
  double residual = 0;  ///< squared
  double beta = 0;
  std::int64_t iterations = 0;
};
/// The values of a block that its neighbours need.
struct cg_ends {
  double first = 0, last = 0;
};

/// What a target holds: its rows of the matrix (-1 2 -1), and of the vectors.
class cg_block {
 public:
  explicit cg_block(std::size_t rows) : x_(rows), r_(rows), p_(rows), q_(rows) {}

  /// The right hand side is 1 everywhere. This block's part of the squared residual, as of advance().
  double restart();
  /// p = r + beta p.
  cg_ends direction(cg_state now);
  /// q = A p; this block's part of p q. `before` and `after` are of the neighbours.
  double multiply(cg_ends before, cg_ends after);
  /// x += alpha p, r -= alpha q.
  double advance(double alpha);
  std::vector<double> solution() const { return x_; }

 private:
  std::vector<double> x_, r_, p_, q_;
};

/// On the node that has made it. A solve takes as many iterations as half of all rows.
class conjugate_gradients {
 public:
  /// A block on each of the targets 1 to `targets`. Throws as offload::make and offload::graph do.
  conjugate_gradients(int targets, std::size_t rows_of_each);

  /// Both solve the system from its start on, and give the iterations that they took. By the host, the calls of one
  /// step to all targets are under way at once.
  std::int64_t solve_by_graph() { return solve_().get().iterations; }
  [[nodiscard]] std::int64_t solve_by_host() const;

  /// Of the solution that the targets have; it is a parabola, of about the square of the rows.
  [[nodiscard]] double max_error() const;

 private:
  using state_value = offload::graph_value<cg_state>;
  using number_value = offload::graph_value<double>;

  [[nodiscard]] offload::compiled_graph<cg_state> record() const;
  [[nodiscard]] state_value iterate(offload::graph& g, state_value now) const;
  /// Zeros where there is no neighbour.
  [[nodiscard]] number_value multiply(offload::graph& g, const std::vector<offload::graph_value<cg_ends>>& edges,
                                      std::size_t block) const;
  [[nodiscard]] static number_value total(offload::graph& g, const std::vector<number_value>& parts);

  std::vector<offload::remote<cg_block>> blocks_;
  offload::compiled_graph<cg_state> solve_;
};

}  // namespace ham::bench
