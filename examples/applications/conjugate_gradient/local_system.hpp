// The linear system in the memory of this process: what the targets are compared with.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "csr_matrix.hpp"
#include "linear_system.hpp"
#include "thread_sum.hpp"

namespace cg {

/// The loop of the targets with the same kernels on the same row blocks, and nothing of HAM. The spans must live as
/// long as this. Threads live as long as a call, and wait for each other without sleeping.
class local_system final : public linear_system {
 public:
  /// A row block for each thread, made by it. Thread i computes on the core cores[i]; with fewer cores than threads
  /// where the system puts it.
  local_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal, std::span<const double> b,
               std::size_t threads = 1, std::vector<int> cores = {});
  ~local_system() override;

  /// Other cores from now on.
  void use_cores(std::vector<int> cores) { cores_ = std::move(cores); }

  double restart(start_at x) override;
  iteration_report iterate(std::int64_t most, double goal) override;
  void copy_solution(std::span<double> to) override;

 private:
  struct part;

  void on_all_threads(const std::function<void(std::size_t)>& work);
  void send_halos(const part& from);
  void wait_for_halos(std::size_t index);
  void restart_part(std::size_t index, start_at x);
  iteration_report iterate_part(std::size_t index, std::int64_t most, double goal);

  std::vector<int> cores_;
  std::vector<std::unique_ptr<part>> parts_;
  thread_sum sums_;
};

}  // namespace cg
