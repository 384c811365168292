// veo in HAM_NODES, and the targets that are called.
#include <gtest/gtest.h>

#include "transport/called_targets.hpp"

namespace ham::inline v1::transport::veo {
namespace {

TEST(veo_factory, reads_a_count) { test::expect_counts_only("veo"); }

TEST(veo_factory, takes_targets_whose_ring_is_in_its_place) {
  test::expect_targets_called_with("veo", ring_place::engine_memory, ring_place::host_segment);
}

}  // namespace
}  // namespace ham::transport::veo
