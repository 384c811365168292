// Conjugate gradients in one process with OpenMP: one parallel region for all iterations; each thread owns a block of
// rows, writes the halos of its neighbours, and meets the others in barriers.
#include <omp.h>

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "cg_program.hpp"
#include "kernels.hpp"
#include "row_block.hpp"
#include "vector_set.hpp"

namespace {

using namespace ham::peers;

cg::csr_view view_of(const cg::csr_matrix& matrix) {
  return {matrix.row_start.data(), matrix.column.data(), matrix.value.data()};
}

/// What one thread owns. It is made by that thread, so that its pages are near its core.
struct part {
  part(cg::row_block rows, std::vector<cg::halo_message> sent, const cg_problem& problem)
      : block(std::move(rows)), messages(std::move(sent)), vectors(4, block.rows.size()), halo(block.halo_size()) {
    const auto first = static_cast<std::size_t>(block.rows.first);
    view = {block.rows.size(),
            view_of(block.lower),
            block.diagonal.data(),
            view_of(block.outer),
            problem.inverse_diagonal.data() + first,
            problem.b.data() + first,
            vectors[0].data(),
            vectors[1].data(),
            vectors[2].data(),
            vectors[3].data(),
            halo.data()};
  }

  cg::row_block block;
  std::vector<cg::halo_message> messages;
  cg::vector_set vectors;  ///< x, r, p, q
  std::vector<double> halo;
  cg::block_view view;
};

class openmp_system final : public cg_system {
 public:
  openmp_system(const cg_problem& problem, int threads)
      : ranges_(cg::partition_by_nonzeros(problem.matrix, static_cast<std::size_t>(threads))), parts_(ranges_.size()) {
    const auto halos = cg::find_halos(problem.matrix, ranges_);
#pragma omp parallel num_threads(workers())
    {
      const auto own = static_cast<std::size_t>(omp_get_thread_num());
      parts_[own] = std::make_unique<part>(cg::make_block(problem.matrix, ranges_[own], halos[own]),
                                           cg::find_messages(ranges_, halos, own), problem);
    }
    if (omp_get_max_threads() < workers()) throw std::runtime_error("fewer threads than blocks");
  }

  double restart(cg::start_at from) override {
#pragma omp parallel num_threads(workers())
    {
      part& own = *parts_[static_cast<std::size_t>(omp_get_thread_num())];
      if (from == cg::start_at::zero) std::fill_n(own.view.x, own.view.rows, 0.0);
      cg::load_solution(own.view);
      static_cast<void>(product(own, 1.0));
      const cg::residual_dots all = sum(cg::restart(own.view), 0);
#pragma omp master
      now_ = all;
    }
    turn_ = 0.0;
    return now_.rr;
  }

  cg::iteration_report iterate(std::int64_t most, double goal) override {
    cg::iteration_report report;
#pragma omp parallel num_threads(workers())
    {
      part& own = *parts_[static_cast<std::size_t>(omp_get_thread_num())];
      cg::residual_dots now = now_;
      double turn = turn_;
      for (std::int64_t i = 0; i < most; ++i) {
        const double curvature = sum({product(own, turn), 0.0}, 0).rz;
        if (!(curvature > 0.0) || !std::isfinite(curvature)) {
#pragma omp master
          {
            report.broken = true;
            report.curvature = curvature;
          }
          break;
        }
        const cg::residual_dots next = sum(cg::advance(own.view, now.rz / curvature), 1);
        turn = next.rz / now.rz;
        now = next;
#pragma omp master
        report.residuals.push_back(now.rr);
        if (now.rr <= goal) break;
      }
#pragma omp barrier
#pragma omp master
      {
        now_ = now;
        turn_ = turn;
      }
    }
    return report;
  }

  void copy_solution(std::span<double> to) override {
    for (const auto& one : parts_) std::copy_n(one->view.x, one->view.rows, to.begin() + one->block.rows.first);
  }
  double agree(double number) override { return number; }
  void wait_for_all() override {}

 private:
  [[nodiscard]] int workers() const { return static_cast<int>(parts_.size()); }

  /// By all threads. Halos are written again after the sums that follow, so one barrier is enough.
  double product(part& own, double turn) {
    for (const cg::halo_message& one : own.messages) {
      cg::copy_border(own.view, turn, one.rows, parts_[one.to]->halo.data() + one.offset);
    }
    const double inside = cg::multiply(own.view, turn);
#pragma omp barrier
    return inside + cg::multiply_halo(own.view, own.block.boundary);
  }

  /// By all threads, which add in the same order. Sums that follow each other take turns in two places.
  cg::residual_dots sum(const cg::residual_dots& part_of_it, std::size_t place) {
    sums_[place][static_cast<std::size_t>(omp_get_thread_num())].dots = part_of_it;
#pragma omp barrier
    cg::residual_dots total;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      total.rz += sums_[place][i].dots.rz;
      total.rr += sums_[place][i].dots.rr;
    }
    return total;
  }

  struct alignas(64) padded {
    cg::residual_dots dots;
  };

  std::vector<cg::row_range> ranges_;
  std::vector<std::unique_ptr<part>> parts_;
  std::array<std::vector<padded>, 2> sums_{std::vector<padded>(parts_.size()), std::vector<padded>(parts_.size())};
  cg::residual_dots now_;
  double turn_ = 0.0;
};

}  // namespace

int main(int argc, char** argv) {
  const cg_options given = parse_cg(argc, argv);
  try {
    omp_set_dynamic(0);
    const cg_problem problem(given);
    const int threads = omp_get_max_threads();
    openmp_system system(problem, threads);
    return run_cg(system, problem, given, {"cg_openmp", "OpenMP " + std::to_string(_OPENMP), threads, true});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "cg_openmp: %s\n", failure.what());
    return 1;
  }
}
