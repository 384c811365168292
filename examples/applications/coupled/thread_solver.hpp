// The solver on a second thread of this process: what the one on a target is compared with.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "coupled/field.hpp"

namespace coupled {

/// How the two threads wait for each other.
enum class waiting {
  spinning,  ///< the fastest there is; occupies both cores
  sleeping   ///< std::atomic::wait
};

class thread_solver {
 public:
  /// On `core`; -1: anywhere.
  thread_solver(const field& begin, std::uint64_t sweeps, waiting how, int core);
  ~thread_solver();
  thread_solver(const thread_solver&) = delete;
  thread_solver& operator=(const thread_solver&) = delete;

  /// Starts a step with `edge`, which must stay as it is until wait() has returned.
  void start(const std::vector<double>& edge);
  /// The row that the step has given.
  [[nodiscard]] std::vector<double> wait();

 private:
  using counter = std::atomic<std::uint32_t>;
  void wait_for(const counter& of, std::uint32_t value) const;
  void announce(counter& of, std::uint32_t value) const;
  void serve(int core);

  field there_;
  std::uint64_t sweeps_;
  waiting how_;
  const std::vector<double>* edge_ = nullptr;  // none: the thread ends
  std::vector<double> row_;
  alignas(64) counter started_{0};
  alignas(64) counter finished_{0};
  std::jthread thread_;
};

}  // namespace coupled
