// One end of a simulated connection.
#include "transport/sim/endpoint.hpp"

#include <gtest/gtest.h>

#include "conformance/subject.hpp"
#include "transport/sim/plain_director.hpp"
#include "transport/sim/transport.hpp"

namespace ham::inline v1::transport::sim {
namespace {

TEST(sim_endpoint, has_room_that_can_be_read_beyond_a_short_payload) {
  plain_director director;
  network among(director);
  sim_endpoint to(among, 0, 1);
  EXPECT_NE(to.reserve(1), nullptr);
  to.cancel();
  EXPECT_EQ(to.sent(), 0U);
  ASSERT_NE(to.reserve(1), nullptr);
  to.commit({7, 8, 1});
  EXPECT_EQ(to.sent(), 1U);
  sim_endpoint from(among, 1, 0);
  frame got;
  ASSERT_TRUE(from.poll(got));
  EXPECT_EQ(got.head.key, 7U);
  EXPECT_EQ(got.head.call, 8U);
  EXPECT_EQ(got.payload.size(), 1U);
  EXPECT_EQ(to.consumed(), 0U);
  from.release();
  EXPECT_EQ(to.consumed(), 1U);
  EXPECT_FALSE(from.poll(got));
}

TEST(sim_endpoint, sends_nothing_once_it_is_closed) {
  plain_director director;
  network among(director);
  sim_endpoint to(among, 0, 1);
  to.close("for a test");
  EXPECT_EQ(to.reserve(1), nullptr);
  EXPECT_EQ(to.reason(), "for a test");
}

}  // namespace
}  // namespace ham::transport::sim
