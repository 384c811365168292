// The linear system spread over the targets: row blocks live there, the host sends the search direction and steps.
#pragma once

#include <ham/offload.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "csr_matrix.hpp"
#include "row_block.hpp"

namespace cg {

/// Where the solver's time went. Times in seconds.
struct solver_costs {
  double computing = 0.0;   ///< the slowest target of every step
  double calling = 0.0;     ///< waiting beyond that in steps that move no vectors
  std::uint64_t calls = 0;  ///< calls in those steps

  [[nodiscard]] double per_call() const { return calls == 0 ? 0.0 : calling / static_cast<double>(calls); }
};

/// Owns the memory on the targets; it is freed with this object. To be used from one thread.
/// Everything blocks until all targets have answered and throws what ham::offload throws.
class distributed_system {
 public:
  /// Cuts the matrix into row blocks for nodes 1 .. num_nodes() - 1 and puts them there; the solution starts as zero.
  /// `inverse_diagonal` is the preconditioner M^-1. At least one target must exist.
  distributed_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal);
  ~distributed_system();

  /// r = residual, z = M^-1 r. Returns r.z and r.r.
  residual_share set_residual(std::span<const double> residual);
  /// q = A p on the targets. Returns p.q.
  double multiply(std::span<const double> direction);
  /// x += step p, r -= step q, z = M^-1 r. Returns r.z and r.r.
  residual_share advance(double step);

  /// Copies z, or x, from the targets to the host.
  void gather_preconditioned(std::span<double> z) const;
  void gather_solution(std::span<double> x) const;

  /// A block's rows, nonzeros and node, for reports.
  struct share {
    ham::node_t node;
    row_range rows;
    std::uint64_t nonzeros;
  };
  [[nodiscard]] std::vector<share> shares() const;
  [[nodiscard]] const solver_costs& costs() const { return costs_; }

 private:
  class resident_block;

  residual_share sum(std::vector<ham::offload::future<residual_share>> shares);

  std::vector<std::unique_ptr<resident_block>> blocks_;
  solver_costs costs_;
};

}  // namespace cg
