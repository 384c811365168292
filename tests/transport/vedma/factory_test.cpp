// vedma in HAM_NODES, and the targets that are called.
#include <gtest/gtest.h>

#include "transport/called_targets.hpp"

namespace ham::inline v1::transport::vedma {
namespace {

TEST(vedma_factory, reads_a_count) { test::expect_counts_only("vedma"); }

TEST(vedma_factory, takes_targets_whose_ring_is_in_its_place) {
  test::expect_targets_called_with("vedma", veo::ring_place::host_segment, veo::ring_place::engine_memory);
}

}  // namespace
}  // namespace ham::transport::vedma
