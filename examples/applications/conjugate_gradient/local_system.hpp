// The linear system in the memory of this process: what the targets are compared with.
#pragma once

#include <span>
#include <vector>

#include "csr_matrix.hpp"
#include "kernels.hpp"
#include "linear_system.hpp"

namespace cg {

/// One thread, plain loops, nothing of HAM. The matrix and the spans must live as long as this.
class local_system final : public linear_system {
 public:
  local_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal, std::span<const double> b);

  double restart() override;
  iteration_report iterate(std::int64_t most, double goal) override;
  void copy_solution(std::span<double> to) override;

 private:
  std::vector<double> x_, r_, p_, q_;
  std::vector<row_range> all_rows_;
  block_view block_;
  residual_dots now_;
};

}  // namespace cg
