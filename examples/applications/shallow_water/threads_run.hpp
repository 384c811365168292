// The targets' parts on threads of one process: what they are compared with.
#pragma once

#include <barrier>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/thread_team.hpp"
#include "shallow_water/flow.hpp"

namespace shallow_water {

class threads_run {
 public:
  /// One thread for each core (app::thread_team), each with memory that it has touched first. As many rows at least.
  threads_run(const domain& of, const std::vector<int>& cores);

  /// Begins anew, and gives the seconds of the steps.
  double advance(const std::vector<double>& from, std::uint64_t steps);
  [[nodiscard]] std::vector<double> state() const;

 private:
  void step(std::size_t i);

  domain of_;
  app::thread_team team_;
  std::vector<std::unique_ptr<block>> parts_;
  std::barrier<> all_;
};

}  // namespace shallow_water
