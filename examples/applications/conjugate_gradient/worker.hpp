// What a target does: its rows of the system, and the iteration on them together with the other targets.
#pragma once

#include <ham/offload.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "all_reduce.hpp"
#include "kernels.hpp"
#include "linear_system.hpp"
#include "vector_set.hpp"

namespace cg {

/// A matrix that the host has put to a target.
struct resident_matrix {
  ham::offload::buffer_ptr<std::uint64_t> row_start;
  ham::offload::buffer_ptr<std::int32_t> column;
  ham::offload::buffer_ptr<double> value;

  HAM_FIELDS(row_start, column, value)
};

/// The memory that the host has allocated on a target and filled, as kernels.hpp names it.
struct resident_memory {
  std::uint64_t rows = 0;
  std::uint64_t halo = 0;
  resident_matrix lower, outer;
  ham::offload::buffer_ptr<double> diagonal, inverse_diagonal, b;
  ham::offload::buffer_ptr<double> x;

  HAM_FIELDS(rows, halo, lower, outer, diagonal, inverse_diagonal, b, x)
};

class worker;
/// Names a worker in calls, from any node.
using worker_ref = ham::offload::remote_ref<worker>;

/// What a worker sends to a neighbour in each iteration; see halo_message.
struct halo_link {
  std::uint64_t to = 0;  ///< index of the worker
  std::vector<std::int32_t> rows;
  std::uint64_t offset = 0;

  HAM_FIELDS(to, rows, offset)
};

/// What a worker is told of the others.
struct introduction {
  std::uint64_t index = 0;          ///< its own place among them
  std::vector<worker_ref> workers;  ///< all of them
  std::vector<halo_link> halo_targets;
  std::uint64_t senders = 0;  ///< how many send it a halo
  std::vector<row_range> boundary;

  HAM_FIELDS(index, workers, halo_targets, senders, boundary)
};

/// Lives on its target, where the host makes it. restart() and iterate() wait for coroutines, which wait for messages
/// of other workers: those are executed meanwhile, and the one that was waited for resumes the coroutine. One at a
/// time.
class worker {
 public:
  /// x becomes zero; the matrix and b are there already.
  explicit worker(const resident_memory& memory);
  /// Once, before anything else.
  void introduce(introduction others);

  double restart(start_at x) { return restarting(x).get(); }
  iteration_report iterate(std::int64_t most, double goal) { return iterating(most, goal).get(); }

  // Messages of other workers.
  void take_halo(std::uint64_t offset, std::span<const double> elements);
  void take_part(std::uint32_t slot, const all_reduce::values& part);
  /// The host gives up: who waits gets an exception.
  void stop();

 private:
  enum class event : std::uint8_t { halos, sum };
  class until;

  ham::offload::task<double> restarting(start_at x);
  ham::offload::task<iteration_report> iterating(std::int64_t most, double goal);
  void send_halos();
  [[nodiscard]] until all_halos();
  [[nodiscard]] until total_of(const residual_dots& part);
  [[nodiscard]] bool happened(event what) const;
  void resume_if_happened();

  introduction others_;
  vector_set vectors_;  ///< r, p, q
  std::vector<double> halo_;
  block_view block_;
  residual_dots now_;
  double turn_ = 0.0;
  all_reduce sums_;
  std::uint64_t halos_arrived_ = 0;
  std::vector<double> to_send_;
  std::coroutine_handle<> waiting_;
  event waits_for_ = event::sum;
  std::chrono::steady_clock::time_point waits_since_;
  std::chrono::steady_clock::duration waited_{};
  bool stopped_ = false;
};

/// The other functions that are called on targets.
namespace on_target {

/// The core that the target runs on.
int core();
/// What the target has sent in messages.
std::uint64_t bytes_sent();
/// Nothing: shows what a call costs.
void nothing();

}  // namespace on_target
}  // namespace cg
