// The endpoint in the place of one that has gone.
#include "core/no_endpoint.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::detail {
namespace {

TEST(no_endpoint, takes_nothing_and_gives_nothing) {
  no_endpoint& nowhere = no_endpoint::instance();
  EXPECT_EQ(nowhere.reserve(0), nullptr);
  EXPECT_EQ(nowhere.max_payload(), 0U);
  transport::frame frame;
  EXPECT_FALSE(nowhere.poll(frame));
  nowhere.commit({});
  EXPECT_EQ(nowhere.consumed(), 0U);
  nowhere.close("again");
  EXPECT_EQ(nowhere.state(), transport::endpoint_state::broken);
}

}  // namespace
}  // namespace ham::detail
