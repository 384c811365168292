// Conjugate gradients in one process. worker.cpp has the same loop, with messages in it.
#include "local_system.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "cores.hpp"

namespace cg {

local_system::local_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal,
                           std::span<const double> b, std::size_t threads)
    : x_(b.size()),
      r_(b.size()),
      p_(b.size()),
      q_(b.size()),
      all_rows_{{0, matrix.rows()}},
      parts_(partition_by_nonzeros(matrix, threads)),
      sums_(std::make_unique<thread_sum>(parts_.size())) {
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

local_system::~local_system() = default;

double local_system::restart(start_at x) {
  if (x == start_at::zero) std::fill(x_.begin(), x_.end(), 0.0);
  load_solution(block_);
  multiply(block_, all_rows_);
  now_ = cg::restart(block_);
  return now_.rr;
}

iteration_report local_system::iterate(std::int64_t most, double goal) {
  std::vector<iteration_report> reports(parts_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      threads.emplace_back([&, part] {
        if (parts_.size() <= cores_.size()) stay_on(cores_[part]);
        reports[part] = iterate_on(part, most, goal);
      });
    }
  }
  return std::move(reports.front());
}

iteration_report local_system::iterate_on(std::size_t part, std::int64_t most, double goal) {
  const std::span<const row_range> rows(&parts_[part], 1);
  const block_view own = rows_of(part);
  residual_dots now = now_;
  iteration_report report;
  sums_->sum(part, {});  // nobody writes now_ before all have read it
  for (std::int64_t i = 0; i < most; ++i) {
    const double curvature = sums_->sum(part, {multiply(block_, rows), 0.0})[0];
    if (!(curvature > 0.0) || !std::isfinite(curvature)) {
      report.broken = true;
      report.curvature = curvature;
      break;
    }
    const double step = now.rz / curvature;
    const residual_dots dots = reduce_residual(own, step);
    const thread_sum::values total = sums_->sum(part, {dots.rz, dots.rr});
    const residual_dots next{total[0], total[1]};
    advance(own, step, next.rz / now.rz);
    now = next;
    report.residuals.push_back(next.rr);
    if (next.rr <= goal) break;
    if (parts_.size() > 1) sums_->sum(part, {});  // others' rows of p are what the next product reads
  }
  if (part == 0) now_ = now;
  return report;
}

/// The vectors of the own rows. The product alone reads those of others: it works on all of them.
block_view local_system::rows_of(std::size_t part) const {
  const auto first = static_cast<std::size_t>(parts_[part].first);
  block_view own = block_;
  own.rows = parts_[part].size();
  own.inverse_diagonal += first;
  own.b += first;
  own.x += first;
  own.r += first;
  own.p += first;
  own.q += first;
  return own;
}

void local_system::copy_solution(std::span<double> to) { std::copy(x_.begin(), x_.end(), to.begin()); }

}  // namespace cg
