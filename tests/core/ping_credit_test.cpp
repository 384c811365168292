// How many pings leave before their sender polls.
#include "core/ping_credit.hpp"

#include <gtest/gtest.h>

namespace ping_credit_test {

using ham::detail::ping_credit;

TEST(ping_credit, is_spent_by_many_pings) {
  ping_credit credit;
  std::uint32_t sent = 0;
  while (credit.spend(8)) ++sent;
  EXPECT_EQ(sent, ping_credit::pings_between_polls - 1);
  EXPECT_FALSE(credit.spend(0));
  credit.renew();
  EXPECT_TRUE(credit.spend(8));
}

TEST(ping_credit, is_spent_by_few_that_are_long) {
  ping_credit credit;
  EXPECT_TRUE(credit.spend(ping_credit::bytes_between_polls / 2));
  EXPECT_FALSE(credit.spend(ping_credit::bytes_between_polls / 2));
}

TEST(ping_credit, is_apart_from_what_the_peer_says) {
  ping_credit credit;
  EXPECT_FALSE(credit.held());
  credit.hold(true);
  credit.renew();
  EXPECT_TRUE(credit.held());
  EXPECT_TRUE(credit.spend(8));
  credit.hold(false);
  EXPECT_FALSE(credit.held());
}

}  // namespace ping_credit_test
