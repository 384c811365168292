// Conjugate gradients in plain MPI: each rank owns a block of rows; persistent requests carry the halos while the rank
// multiplies; MPI_Allreduce sums.
#include <mpi.h>

#include <cmath>
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

/// Halos between this rank and its neighbours.
class halo_exchange {
 public:
  halo_exchange() = default;
  halo_exchange(const halo_exchange&) = delete;
  halo_exchange& operator=(const halo_exchange&) = delete;
  ~halo_exchange() {
    for (MPI_Request& one : requests_) MPI_Request_free(&one);
  }

  /// Once. `messages[i]` is what rank i sends.
  void set_up(int rank, const std::vector<std::vector<cg::halo_message>>& messages, std::vector<double>& halo) {
    const auto own = static_cast<std::size_t>(rank);
    for (std::size_t from = 0; from < messages.size(); ++from) {
      for (const cg::halo_message& one : messages[from]) {
        if (one.to != own) continue;
        MPI_Recv_init(halo.data() + one.offset, static_cast<int>(one.rows.size()), MPI_DOUBLE, static_cast<int>(from),
                      0, MPI_COMM_WORLD, &requests_.emplace_back());
      }
    }
    receives_ = requests_.size();
    sent_ = own < messages.size() ? messages[own] : std::vector<cg::halo_message>{};
    for (const cg::halo_message& one : sent_) buffers_.emplace_back(one.rows.size());
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      MPI_Send_init(buffers_[i].data(), static_cast<int>(buffers_[i].size()), MPI_DOUBLE, static_cast<int>(sent_[i].to),
                    0, MPI_COMM_WORLD, &requests_.emplace_back());
    }
  }

  void begin(const cg::block_view& block, double turn) {
    if (requests_.empty()) return;  // Open MPI 4.1 takes no empty list
    MPI_Startall(static_cast<int>(receives_), requests_.data());
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      cg::copy_border(block, turn, sent_[i].rows, buffers_[i].data());
      MPI_Start(&requests_[receives_ + i]);
    }
  }
  void end() {
    if (requests_.empty()) return;
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<MPI_Request> requests_;  ///< those that receive come first
  std::size_t receives_ = 0;
  std::vector<cg::halo_message> sent_;
  std::vector<std::vector<double>> buffers_;
};

class mpi_system final : public cg_system {
 public:
  mpi_system(const cg_problem& problem, int rank, int ranks) {
    ranges_ = cg::partition_by_nonzeros(problem.matrix, static_cast<std::size_t>(ranks));
    const auto halos = cg::find_halos(problem.matrix, ranges_);
    std::vector<std::vector<cg::halo_message>> messages;
    for (std::size_t i = 0; i < ranges_.size(); ++i) messages.push_back(cg::find_messages(ranges_, halos, i));
    const auto own = static_cast<std::size_t>(rank);
    if (own < ranges_.size()) {  // else there are more ranks than rows, and this one has none
      block_ = cg::make_block(problem.matrix, ranges_[own], halos[own]);
      const auto first = static_cast<std::size_t>(ranges_[own].first);
      const std::size_t rows = ranges_[own].size();
      b_.assign(problem.b.begin() + ranges_[own].first, problem.b.begin() + ranges_[own].last);
      inverse_diagonal_.assign(problem.inverse_diagonal.begin() + static_cast<std::ptrdiff_t>(first),
                               problem.inverse_diagonal.begin() + static_cast<std::ptrdiff_t>(first + rows));
    }
    vectors_ = cg::vector_set(4, b_.size());
    halo_.resize(block_.halo_size());
    view_ = {
        b_.size(),   view_of(block_.lower), block_.diagonal.data(), view_of(block_.outer), inverse_diagonal_.data(),
        b_.data(),   vectors_[0].data(),    vectors_[1].data(),     vectors_[2].data(),    vectors_[3].data(),
        halo_.data()};
    exchange_.set_up(rank, messages, halo_);
  }

  double restart(cg::start_at x) override {
    if (x == cg::start_at::zero) std::fill_n(view_.x, view_.rows, 0.0);
    cg::load_solution(view_);
    static_cast<void>(product(1.0));
    now_ = sum(cg::restart(view_));
    turn_ = 0.0;
    return now_.rr;
  }

  cg::iteration_report iterate(std::int64_t most, double goal) override {
    cg::iteration_report report;
    for (std::int64_t i = 0; i < most; ++i) {
      double curvature = product(turn_);
      MPI_Allreduce(MPI_IN_PLACE, &curvature, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      if (!(curvature > 0.0) || !std::isfinite(curvature)) {
        report.broken = true;
        report.curvature = curvature;
        break;
      }
      const cg::residual_dots next = sum(cg::advance(view_, now_.rz / curvature));
      turn_ = next.rz / now_.rz;
      now_ = next;
      report.residuals.push_back(now_.rr);
      if (now_.rr <= goal) break;
    }
    return report;
  }

  /// To rank 0 only.
  void copy_solution(std::span<double> to) override {
    std::vector<int> counts, places;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (std::size_t i = 0; i < static_cast<std::size_t>(ranks); ++i) {
      counts.push_back(i < ranges_.size() ? static_cast<int>(ranges_[i].size()) : 0);
      places.push_back(i < ranges_.size() ? ranges_[i].first : 0);
    }
    MPI_Gatherv(view_.x, static_cast<int>(view_.rows), MPI_DOUBLE, to.data(), counts.data(), places.data(), MPI_DOUBLE,
                0, MPI_COMM_WORLD);
  }

  double agree(double number) override {
    MPI_Bcast(&number, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return number;
  }
  void wait_for_all() override { MPI_Barrier(MPI_COMM_WORLD); }

 private:
  /// p and q; the own part of p.q.
  double product(double turn) {
    exchange_.begin(view_, turn);
    const double inside = cg::multiply(view_, turn);
    exchange_.end();
    return inside + cg::multiply_halo(view_, block_.boundary);
  }

  static cg::residual_dots sum(const cg::residual_dots& part) {
    double values[2] = {part.rz, part.rr};
    MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return {values[0], values[1]};
  }

  std::vector<cg::row_range> ranges_;
  cg::row_block block_;
  std::vector<double> b_, inverse_diagonal_, halo_;
  cg::vector_set vectors_{4, 0};  ///< x, r, p, q
  cg::block_view view_;
  halo_exchange exchange_;
  cg::residual_dots now_;
  double turn_ = 0.0;
};

}  // namespace

int main(int argc, char** argv) {
  const cg_options given = parse_cg(argc, argv);
  end_with_parent(::getppid());
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int status = 0;
  try {
    const std::vector<int> cores = usable_cores();
    if (static_cast<std::size_t>(ranks) <= cores.size()) pin_to(cores[static_cast<std::size_t>(rank)]);
    const cg_problem problem(given);
    mpi_system system(problem, rank, ranks);
    status = run_cg(system, problem, given, {"cg_mpi", HAM_PEER_NAME, ranks, rank == 0});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "cg_mpi: rank %d: %s\n", rank, failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
