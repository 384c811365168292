// Over how many targets ham-bench graphs lays its chain.
#include "../../tools/bench/chain_targets.hpp"

#include <gtest/gtest.h>

namespace {

using ham::bench::chain_targets;
using ham::bench::cores_suffice;

TEST(chain_targets, each_node_has_a_core_where_there_are_enough) {
  for (const int cores : {3, 4, 8, 9}) {
    EXPECT_EQ(chain_targets(static_cast<std::size_t>(cores), 0), cores - 1);
    EXPECT_TRUE(cores_suffice(static_cast<std::size_t>(cores), cores - 1));
    EXPECT_FALSE(cores_suffice(static_cast<std::size_t>(cores), cores));
  }
}

TEST(chain_targets, two_to_eight) {
  for (const std::size_t cores : {std::size_t{1}, std::size_t{2}}) {
    EXPECT_EQ(chain_targets(cores, 0), 2);
    EXPECT_FALSE(cores_suffice(cores, 2));
  }
  EXPECT_EQ(chain_targets(10, 0), 8);
  EXPECT_EQ(chain_targets(1000, 0), 8);
}

TEST(chain_targets, as_many_as_are_asked_for) {
  EXPECT_EQ(chain_targets(2, 5), 5);
  EXPECT_EQ(chain_targets(64, 3), 3);
  EXPECT_EQ(chain_targets(64, 1), 2);
  EXPECT_EQ(chain_targets(64, 100), 8);
}

}  // namespace
