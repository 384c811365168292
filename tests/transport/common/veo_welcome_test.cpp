// What a target in a Vector Engine is told: nonsense is refused, and the terms follow from where the ring is.
#include "transport/common/veo_welcome.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ham::inline v1::transport::veo {
namespace {

welcome good() {
  welcome said;
  said.node = 1;
  said.nodes = 2;
  return said;
}

TEST(veo_welcome, is_taken_only_if_it_makes_sense) {
  EXPECT_TRUE(good().sane());
  welcome said = good();
  said.version = welcome::protocol + 1;
  EXPECT_FALSE(said.sane());
  said = good();
  said.version = 0;
  EXPECT_FALSE(said.sane());
  for (const std::int32_t node : {0, -1}) {
    said = good();
    said.node = node;
    EXPECT_FALSE(said.sane()) << "no target has this number";
  }
  for (const std::int32_t host : {-1, 1}) {
    said = good();
    said.host = host;
    EXPECT_FALSE(said.sane()) << "no other node has this number";
  }
  said = good();
  said.host = 3;
  EXPECT_TRUE(said.sane());
  said = good();
  said.nodes = 1;
  EXPECT_FALSE(said.sane());
  said = good();
  said.layout.buffers = 0;
  EXPECT_FALSE(said.sane());
}

TEST(veo_welcome, memory_that_nobody_has_written_is_none) {
  welcome said = good();
  std::memset(static_cast<void*>(&said), 0, sizeof said);
  EXPECT_FALSE(said.sane());
  std::memset(static_cast<void*>(&said), 0xff, sizeof said);
  EXPECT_FALSE(said.sane());
}

TEST(veo_welcome, begins_with_readable_letters) {
  char text[9] = {};
  for (unsigned i = 0; i < 8; ++i) text[i] = static_cast<char>(welcome::protocol >> (8 * i));
  EXPECT_STREQ(text, "hamveo03");
}

TEST(veo_welcome, transfers_of_the_host_are_too_dear_to_say_that_a_message_was_taken) {
  welcome said = good();
  said.epoch = 4;
  said.place = ring_place::engine_memory;
  EXPECT_FALSE(said.terms(host_side).tells_taken);
  EXPECT_FALSE(said.terms(target_side).tells_taken) << "both sides agree";
  said.place = ring_place::host_segment;
  EXPECT_TRUE(said.terms(target_side).tells_taken);
  EXPECT_EQ(said.terms(host_side).side, 0U);
  EXPECT_EQ(said.terms(target_side).side, 1U);
  EXPECT_EQ(said.terms(target_side).epoch, 4U);
}

}  // namespace
}  // namespace ham::transport::veo
