// Conjugate gradients in one process. worker.cpp has the same loop, with messages in it.
#include "local_system.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "cores.hpp"
#include "kernels.hpp"
#include "row_block.hpp"
#include "vector_set.hpp"

namespace cg {
namespace {

csr_view view_of(const csr_matrix& matrix) {
  return {matrix.row_start.data(), matrix.column.data(), matrix.value.data()};
}

}  // namespace

/// What a worker has on its target.
struct local_system::part {
  part(row_block rows, std::vector<halo_message> messages, std::span<const double> inverse_diagonal,
       std::span<const double> b)
      : block(std::move(rows)),
        halo_targets(std::move(messages)),
        vectors(4, block.rows.size()),
        halo(block.halo_size()) {
    const auto first = static_cast<std::size_t>(block.rows.first);
    view = {block.rows.size(),
            view_of(block.lower),
            block.diagonal.data(),
            view_of(block.outer),
            inverse_diagonal.data() + first,
            b.data() + first,
            vectors[0].data(),
            vectors[1].data(),
            vectors[2].data(),
            vectors[3].data(),
            halo.data()};
  }

  row_block block;
  std::vector<halo_message> halo_targets;
  vector_set vectors;  ///< x, r, p, q
  std::vector<double> halo;
  block_view view;
  residual_dots now;
  double turn = 0.0;
};

local_system::local_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal,
                           std::span<const double> b, std::size_t threads, std::vector<int> cores)
    : cores_(std::move(cores)), parts_(partition_by_nonzeros(matrix, threads).size()), sums_(parts_.size()) {
  const std::vector<row_range> ranges = partition_by_nonzeros(matrix, threads);
  const auto halos = find_halos(matrix, ranges);
  on_all_threads([&](std::size_t i) {
    parts_[i] = std::make_unique<part>(make_block(matrix, ranges[i], halos[i]), find_messages(ranges, halos, i),
                                       inverse_diagonal, b);
  });
}

local_system::~local_system() = default;

double local_system::restart(start_at x) {
  on_all_threads([&](std::size_t i) { restart_part(i, x); });
  return parts_.front()->now.rr;
}

iteration_report local_system::iterate(std::int64_t most, double goal) {
  std::vector<iteration_report> reports(parts_.size());
  on_all_threads([&](std::size_t i) { reports[i] = iterate_part(i, most, goal); });
  return std::move(reports.front());
}

void local_system::restart_part(std::size_t index, start_at x) {
  part& own = *parts_[index];
  if (x == start_at::zero) std::fill_n(own.view.x, own.view.rows, 0.0);
  load_solution(own.view);
  own.turn = 1.0;
  send_halos(own);
  multiply(own.view, own.turn);
  wait_for_halos(index);
  multiply_halo(own.view, own.block.boundary);
  const residual_dots dots = cg::restart(own.view);
  const thread_sum::values total = sums_.sum(index, {dots.rz, dots.rr});
  own.now = {total[0], total[1]};
  own.turn = 0.0;
}

iteration_report local_system::iterate_part(std::size_t index, std::int64_t most, double goal) {
  part& own = *parts_[index];
  iteration_report report;
  for (std::int64_t i = 0; i < most; ++i) {
    send_halos(own);
    double curvature = multiply(own.view, own.turn);
    wait_for_halos(index);
    curvature += multiply_halo(own.view, own.block.boundary);
    curvature = sums_.sum(index, {curvature, 0.0})[0];
    if (!(curvature > 0.0) || !std::isfinite(curvature)) {
      report.broken = true;
      report.curvature = curvature;
      break;
    }
    const residual_dots dots = advance(own.view, own.now.rz / curvature);
    const thread_sum::values total = sums_.sum(index, {dots.rz, dots.rr});
    own.turn = total[0] / own.now.rz;
    own.now = {total[0], total[1]};
    report.residuals.push_back(own.now.rr);
    if (own.now.rr <= goal) break;
  }
  return report;
}

void local_system::on_all_threads(const std::function<void(std::size_t)>& work) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    threads.emplace_back([&, i] {
      if (parts_.size() <= cores_.size()) stay_on(cores_[i]);
      work(i);
    });
  }
}

void local_system::send_halos(const part& from) {
  for (const halo_message& message : from.halo_targets) {
    copy_border(from.view, from.turn, message.rows, parts_[message.to]->halo.data() + message.offset);
  }
}

/// Others write a halo again when they have begun the next product: after the sums that follow this one.
void local_system::wait_for_halos(std::size_t index) {
  if (parts_.size() > 1) sums_.sum(index, {});
}

void local_system::copy_solution(std::span<double> to) {
  for (const auto& one : parts_) std::copy_n(one->view.x, one->view.rows, to.begin() + one->block.rows.first);
}

}  // namespace cg
