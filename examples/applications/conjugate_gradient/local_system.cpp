// Conjugate gradients in one process. worker.cpp has the same loop, with messages in it.
#include "local_system.hpp"

#include <algorithm>
#include <cmath>

namespace cg {

local_system::local_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal,
                           std::span<const double> b)
    : x_(b.size()), r_(b.size()), p_(b.size()), q_(b.size()), all_rows_{{0, matrix.rows()}} {
  block_ = {b.size(),
            matrix.row_start.data(),
            matrix.column.data(),
            matrix.value.data(),
            inverse_diagonal.data(),
            b.data(),
            x_.data(),
            r_.data(),
            p_.data(),
            q_.data()};
}

double local_system::restart() {
  load_solution(block_);
  multiply(block_, all_rows_);
  now_ = cg::restart(block_);
  return now_.rr;
}

iteration_report local_system::iterate(std::int64_t most, double goal) {
  iteration_report report;
  for (std::int64_t i = 0; i < most; ++i) {
    const double curvature = multiply(block_, all_rows_);
    if (!(curvature > 0.0) || !std::isfinite(curvature)) {
      report.broken = true;
      report.curvature = curvature;
      break;
    }
    const double step = now_.rz / curvature;
    const residual_dots next = reduce_residual(block_, step);
    advance(block_, step, next.rz / now_.rz);
    now_ = next;
    report.residuals.push_back(next.rr);
    if (next.rr <= goal) break;
  }
  return report;
}

void local_system::copy_solution(std::span<double> to) { std::copy(x_.begin(), x_.end(), to.begin()); }

}  // namespace cg
