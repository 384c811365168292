// Allocations by operator new that calls cause, on all nodes of a job together.
#pragma once

#include "statistics.hpp"

#include <ham/offload.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ham::inline v1::bench {

/// This process counts them from now on, from 0.
void begin_counting_allocations();

/// It counts them no longer. How many there were.
std::uint64_t end_counting_allocations();

/// The same for the host and the targets 1 to `targets`. The calls that this takes allocate nothing.
void begin_counting_on_all(int targets);
[[nodiscard]] std::uint64_t end_counting_on_all(int targets);

/// Throws std::runtime_error if a node of the job does not see an allocation of its own.
void check_counting(int targets);

/// Allocations per call of `what`, the median over the rounds: what a node meets for the first time may allocate, which
/// is no cost of each call.
template <class What>
[[nodiscard]] double allocations_per_call(int targets, int rounds, int calls, What what) {
  check_counting(targets);
  std::vector<double> found;
  for (int round = 0; round < rounds; ++round) {
    begin_counting_on_all(targets);
    for (int i = 0; i < calls; ++i) what();
    found.push_back(static_cast<double>(end_counting_on_all(targets)) / calls);
  }
  return median(std::move(found));
}

}  // namespace ham::bench
