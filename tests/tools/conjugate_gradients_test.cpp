// The system that ham-bench graphs solves: both ways give the solution, and a graph costs the host as many messages for
// few iterations as for many.
#include "../../tools/bench/conjugate_gradients.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace ham;
using bench::conjugate_gradients;

class conjugate_gradients_of_bench : public testing::TestWithParam<int> {
 protected:
  conjugate_gradients_of_bench() : job_(three_targets()) {}
  static runtime_options three_targets() {
    runtime_options options;
    options.nodes = "loopback:3";
    return options;
  }
  template <class Solve>
  static std::uint64_t messages_of(Solve solve) {
    const std::uint64_t before = offload::stats().calls_sent;
    solve();
    return offload::stats().calls_sent - before;
  }

 private:
  runtime job_;
};

TEST_P(conjugate_gradients_of_bench, both_ways_give_the_solution_in_as_many_iterations) {
  const int targets = GetParam();
  const std::size_t rows = 60;
  conjugate_gradients system(targets, rows / static_cast<std::size_t>(targets));
  for (int round = 0; round < 2; ++round) {  // each begins anew
    EXPECT_EQ(system.solve_by_graph(), 30);
    EXPECT_LT(system.max_error(), 1e-6);
    EXPECT_EQ(system.solve_by_host(), 30);
    EXPECT_LT(system.max_error(), 1e-6);
  }
}

TEST_P(conjugate_gradients_of_bench, a_graph_takes_the_host_as_many_messages_for_100_iterations_as_for_10) {
  const int targets = GetParam();
  std::vector<std::uint64_t> by_graph, by_host;
  for (const std::int64_t iterations : {10, 100}) {
    // Three blocks cannot be halves of as many rows: those take what is needed for a little more.
    const auto rows = static_cast<std::size_t>((2 * iterations + targets - 1) / targets);
    conjugate_gradients system(targets, rows);
    EXPECT_GE(system.solve_by_graph(), iterations);
    by_graph.push_back(messages_of([&] { static_cast<void>(system.solve_by_graph()); }));
    by_host.push_back(messages_of([&] { static_cast<void>(system.solve_by_host()); }));
  }
  EXPECT_EQ(by_graph[0], by_graph[1]);
  EXPECT_LE(by_graph[1], static_cast<std::uint64_t>(targets));
  EXPECT_GE(by_host[1], 100U * 3U * static_cast<std::uint64_t>(targets)) << "three calls to each in an iteration";
}

INSTANTIATE_TEST_SUITE_P(over, conjugate_gradients_of_bench, testing::Values(1, 2, 3),
                         [](const auto& one) { return "targets_" + std::to_string(one.param); });

}  // namespace
