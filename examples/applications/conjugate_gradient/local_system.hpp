// The linear system in the memory of this process: what the targets are compared with.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "csr_matrix.hpp"
#include "kernels.hpp"
#include "linear_system.hpp"
#include "thread_sum.hpp"

namespace cg {

/// The loop of the targets with the same kernels, and nothing of HAM. The matrix and the spans must live as long as
/// this.
class local_system final : public linear_system {
 public:
  /// With more than one thread, each has rows of its own; all share the vectors, and wait for each other without
  /// sleeping.
  local_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal, std::span<const double> b,
               std::size_t threads = 1);
  ~local_system() override;

  /// Thread i computes on the core cores[i] from now on; with fewer cores than threads where the system puts it.
  void use_cores(std::vector<int> cores) { cores_ = std::move(cores); }

  double restart(start_at x) override;
  /// The threads live as long as this call.
  iteration_report iterate(std::int64_t most, double goal) override;
  void copy_solution(std::span<double> to) override;

 private:
  iteration_report iterate_on(std::size_t part, std::int64_t most, double goal);
  [[nodiscard]] block_view rows_of(std::size_t part) const;

  std::vector<double> x_, r_, p_, q_;
  std::vector<row_range> all_rows_, parts_;
  std::vector<int> cores_;
  block_view block_;
  residual_dots now_;
  std::unique_ptr<thread_sum> sums_;
};

}  // namespace cg
