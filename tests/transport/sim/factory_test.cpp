// sim and islands in HAM_NODES.
#include "transport/factory.hpp"

#include <gtest/gtest.h>

#include <string>

#include "transport/sim/plain_director.hpp"
#include "transport/starting.hpp"

namespace ham::inline v0::transport {

const factory& sim_factory();
const factory& islands_factory();

namespace {

TEST(sim_factory, needs_a_simulation) {
  EXPECT_FALSE(sim_factory().probe().available);
  sim::plain_director director;
  sim::network among(director);
  sim::set_current_network(&among);
  EXPECT_TRUE(sim_factory().probe().available);
  sim::set_current_network(nullptr);
}

TEST(sim_factory, its_targets_are_started_by_the_simulation_and_know_who_they_are) {
  sim::plain_director director;
  sim::network among(director);
  sim::set_current_network(&among);
  base::heap memory{base::heap::make_file()};
  struct : observer {
    void on_connected(endpoint&) override {}
    void on_broken(node_t, const std::string&) override {}
    void on_lost(node_t, const std::string&) override {}
  } nobody;
  {
    const host_parts parts = sim_factory().as_starting()->make_host(0, memory, nobody);
    const target_group group(sim_factory(), 2);
    parts.side->start(group,
                      {{.node = 1, .member = 0, .command = {}, .cores = {}, .environment = {}},
                       {.node = 2, .member = 1, .command = {}, .cores = {}, .environment = {}}},
                      {3, 3});
    ASSERT_EQ(director.started.size(), 2U);
    EXPECT_EQ(director.started[1]->self(), 2);
    EXPECT_EQ(director.started[1]->host(), 0);
    EXPECT_EQ(director.started[1]->nodes(), 3U);
    parts.side->end(1, std::chrono::milliseconds(5));
    EXPECT_EQ(director.ended, std::vector<node_t>{1});
  }
  sim::set_current_network(nullptr);
}

TEST(sim_factory, targets_of_islands_reach_their_host_only) {
  EXPECT_EQ(sim_factory().as_starting()->reaches(), company::targets);
  EXPECT_EQ(islands_factory().as_starting()->reaches(), company::nobody);
  EXPECT_EQ(islands_factory().name(), "islands");
}

}  // namespace
}  // namespace ham::transport
