// When a node sleeps that has nothing to do.
#include <gtest/gtest.h>

#include <cstdint>

#include "base/clock.hpp"
#include "faults/hostile_world.hpp"

namespace engine_sleep_test {

using namespace ham;
using namespace ham::test;

/// How often a wait of 200 ms asks whether it is over.
std::uint64_t turns_of_wait(detail::engine& node) {
  std::uint64_t turns = 0;
  const auto never = [&turns] {
    ++turns;
    return false;
  };
  const auto progress = [&node] { return node.poll_once(); };
  EXPECT_FALSE(node.waits.wait_until(never, progress, base::now_ns() + 200'000'000));
  return turns;
}

TEST(engine_sleep, a_node_that_has_ended_sleeps_while_a_function_on_it_waits) {
  world around;
  const detail::engine_scope scope(&around.node());
  around.node().end();
  EXPECT_LT(turns_of_wait(around.node()), 50'000U) << "it polls";
}

}  // namespace engine_sleep_test
