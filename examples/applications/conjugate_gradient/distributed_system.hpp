// The linear system spread over the targets: rows, vectors and the loop are there; the host says how far to iterate.
#pragma once

#include <ham/offload.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "csr_matrix.hpp"
#include "linear_system.hpp"
#include "worker.hpp"

namespace cg {

/// Owns the memory on the targets; it is freed with this object. To be used from one thread.
/// Everything blocks until all targets have answered and throws what ham::offload throws.
class distributed_system final : public linear_system {
 public:
  /// Cuts the matrix into row blocks for nodes 1 .. `targets` and puts them there, with their parts of b and of the
  /// preconditioner M^-1, and makes the targets known to each other. At least one target must exist.
  distributed_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal, std::span<const double> b,
                     std::size_t targets = ham::offload::num_nodes() - 1);
  ~distributed_system() override;

  double restart(start_at x) override;
  iteration_report iterate(std::int64_t most, double goal) override;
  void copy_solution(std::span<double> to) override;

  /// A block's node, rows and nonzeros, for reports.
  struct share {
    ham::node_t node;
    row_range rows;
    std::uint64_t nonzeros;
    std::size_t halo;  ///< elements that it gets from other targets in each iteration
  };
  [[nodiscard]] const std::vector<share>& shares() const { return shares_; }

 private:
  class resident_block;

  std::vector<std::unique_ptr<resident_block>> blocks_;
  std::vector<share> shares_;
};

}  // namespace cg
