// What a target is told first decides how its ring is used.
#include "transport/emulated/messages.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace ham::inline v1::transport::emulated {
namespace {

TEST(emulated_messages, both_sides_have_the_same_ring_and_different_directions) {
  welcome said;
  said.epoch = 99;
  said.layout = {8, 8192};
  const one_sided_terms host = terms_of(said, host_side);
  const one_sided_terms target = terms_of(said, target_side);
  EXPECT_NE(host.side, target.side);
  EXPECT_EQ(host.side + target.side, 1U) << "directions are 0 and 1";
  for (const one_sided_terms& one : {host, target}) {
    EXPECT_EQ(one.epoch, 99U);
    EXPECT_EQ(one.layout.buffers, 8U);
    EXPECT_EQ(one.layout.buffer_bytes, 8192U);
  }
}

TEST(emulated_messages, who_waits_for_writes_makes_none_only_to_acknowledge) {
  welcome said;
  EXPECT_TRUE(terms_of(said, host_side).tells_taken);
  said.costs.posted = 0;
  EXPECT_FALSE(terms_of(said, host_side).tells_taken);
  EXPECT_FALSE(terms_of(said, target_side).tells_taken) << "both sides agree";
}

TEST(emulated_messages, a_welcome_crosses_as_its_bytes) {
  EXPECT_TRUE(std::is_trivially_copyable_v<welcome>);
  EXPECT_TRUE(welcome().layout.sane() && welcome().costs.sane());
  EXPECT_EQ(welcome().version, welcome::protocol);
}

}  // namespace
}  // namespace ham::transport::emulated
