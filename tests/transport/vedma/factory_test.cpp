// vedma in HAM_NODES, and the targets that are called.
#include <gtest/gtest.h>

#include "transport/common/veo_welcome.hpp"
#include "transport/groups.hpp"
#include "transport/starting.hpp"

namespace ham::transport::vedma {
namespace {

using test::group_of;
using test::refusal_of;

TEST(vedma_factory, reads_a_count) {
  EXPECT_EQ(group_of("vedma", "vedma").count, 1U);
  EXPECT_EQ(group_of("vedma", "vedma:2").count, 2U);
  EXPECT_NE(refusal_of("vedma", "vedma@1").find("can be given cores"), std::string::npos);
  EXPECT_NE(refusal_of("vedma", "vedma:1/read=1").find("left over"), std::string::npos);
}

TEST(vedma_factory, takes_targets_whose_ring_is_in_its_place) {
  const starting_factory& by = *test::transport_named("vedma").as_starting();
  EXPECT_FALSE(by.starts_own_program()) << "engines have an application of their own";
  ham::transport::veo::welcome said;
  said.node = 3;
  said.nodes = 5;
  said.place = ham::transport::veo::ring_place::host_segment;
  const auto side = by.make_called_target(reinterpret_cast<std::uintptr_t>(&said));
  ASSERT_NE(side, nullptr);
  EXPECT_EQ(side->self(), 3);
  EXPECT_EQ(side->nodes(), 5U);
  said.place = ham::transport::veo::ring_place::engine_memory;
  EXPECT_EQ(by.make_called_target(reinterpret_cast<std::uintptr_t>(&said)), nullptr);
  said.version = 0;
  EXPECT_THROW(static_cast<void>(by.make_called_target(reinterpret_cast<std::uintptr_t>(&said))), config_error);
}

}  // namespace
}  // namespace ham::transport::vedma
