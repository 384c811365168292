// Who is told to hold pings, and when to go on.
#include "core/ping_flow.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "core/recorded_replies.hpp"

namespace ping_flow_test {

using namespace ham;
using detail::peer;
using detail::peer_state;
using detail::ping_credit;
using detail::wire_kind;

constexpr node_t self = 0;
constexpr node_t near = 1;
constexpr node_t far = 2;

class ping_flow : public testing::Test {
 protected:
  ping_flow() {
    flow_.limit(400);
    for (const node_t node : {self, near, far}) peers_.claim(node)->hello_seen = true;
  }
  peer& at(node_t node) { return peers_[node]; }
  /// A ping of a peer is set aside.
  void set_aside(node_t from, std::size_t bytes) {
    ASSERT_TRUE(flow_.take(bytes));
    flow_.slow_if_filling(at(from));
  }
  /// Which nodes were told since this was last asked, and whether to hold.
  std::vector<std::pair<node_t, bool>> told() {
    std::vector<std::pair<node_t, bool>> all;
    for (const auto& one : std::exchange(replies_.sent, {})) {
      EXPECT_EQ(one.head.kind(), wire_kind::flow);
      EXPECT_EQ(one.bytes.size(), 1U);
      all.emplace_back(one.to, one.bytes.at(0) == std::byte{1});
    }
    return all;
  }
  using words = std::vector<std::pair<node_t, bool>>;

  detail::peer_table peers_{3};
  detail::self_endpoint own_{self, [] {}};
  test::recorded_replies replies_;
  detail::ping_flow flow_{peers_, own_, replies_};
};

TEST_F(ping_flow, nobody_is_told_while_there_is_room) {
  set_aside(near, 300);
  flow_.give(300);
  EXPECT_EQ(told(), words());
}

TEST_F(ping_flow, who_fills_the_node_is_told_once_and_hears_when_half_is_free) {
  set_aside(near, 200);
  set_aside(near, 101);
  set_aside(near, 1);
  EXPECT_EQ(told(), words({{near, true}}));
  flow_.give(1);
  EXPECT_EQ(told(), words());
  ASSERT_TRUE(flow_.take(1));
  flow_.give(101);
  EXPECT_EQ(told(), words()) << "201 of 400 bytes are taken";
  flow_.give(1);
  EXPECT_EQ(told(), words({{near, false}}));
  flow_.give(200);
  EXPECT_EQ(told(), words());
}

TEST_F(ping_flow, everybody_who_was_told_hears_it) {
  set_aside(near, 301);
  set_aside(far, 1);
  EXPECT_EQ(told(), words({{near, true}, {far, true}}));
  flow_.give(301);
  EXPECT_EQ(told(), words({{near, false}, {far, false}}));
  flow_.give(1);
  set_aside(far, 301);
  EXPECT_EQ(told(), words({{far, true}}));
}

TEST_F(ping_flow, who_was_lost_is_told_nothing) {
  set_aside(near, 301);
  set_aside(far, 1);
  static_cast<void>(told());
  at(near).state.store(peer_state::lost);
  flow_.give(301);
  EXPECT_EQ(told(), words({{far, false}}));
}

TEST_F(ping_flow, what_is_dropped_at_the_end_is_no_news) {
  set_aside(near, 301);
  static_cast<void>(told());
  flow_.drop(301);
  EXPECT_EQ(told(), words());
  EXPECT_TRUE(flow_.take(400));
}

TEST_F(ping_flow, what_a_peer_says_holds_pings_to_it) {
  constexpr std::array hold{std::byte{1}};
  constexpr std::array resume{std::byte{0}};
  EXPECT_TRUE(flow_.welcomes(at(near), 8));
  detail::ping_flow::receive(at(near), hold);
  EXPECT_TRUE(flow_.holds(at(near)));
  EXPECT_TRUE(flow_.waits_for_calls(at(near)));
  EXPECT_FALSE(flow_.welcomes(at(near), 8));
  EXPECT_TRUE(flow_.welcomes(at(far), 8));
  detail::ping_flow::receive(at(near), resume);
  EXPECT_TRUE(flow_.welcomes(at(near), 8));
}

TEST_F(ping_flow, words_that_mean_nothing_are_refused) {
  constexpr std::array two{std::byte{1}, std::byte{1}};
  constexpr std::array strange{std::byte{2}};
  constexpr std::array hold{std::byte{1}};
  EXPECT_THROW(detail::ping_flow::receive(at(near), {}), protocol_error);
  EXPECT_THROW(detail::ping_flow::receive(at(near), two), protocol_error);
  EXPECT_THROW(detail::ping_flow::receive(at(near), strange), protocol_error);
  at(near).hello_seen = false;
  EXPECT_THROW(detail::ping_flow::receive(at(near), hold), protocol_error);
  EXPECT_FALSE(flow_.holds(at(near)));
}

TEST_F(ping_flow, who_only_pings_polls_now_and_then) {
  std::uint32_t sent = 0;
  while (flow_.welcomes(at(near), 8)) ++sent;
  EXPECT_EQ(sent, ping_credit::pings_between_polls - 1);
  EXPECT_FALSE(flow_.holds(at(near))) << "after it has polled it may go on";
  at(near).pings.renew();
  EXPECT_TRUE(flow_.welcomes(at(near), 8));
}

TEST_F(ping_flow, the_node_itself_takes_pings_while_it_has_room) {
  EXPECT_TRUE(flow_.welcomes(at(self), 8));
  ASSERT_TRUE(flow_.take(301));
  EXPECT_TRUE(flow_.holds(at(self)));
  EXPECT_TRUE(flow_.waits_for_calls(at(self)));
  EXPECT_FALSE(flow_.holds(at(near)));
  flow_.give(301);
  EXPECT_FALSE(flow_.holds(at(self)));
}

TEST_F(ping_flow, the_node_itself_takes_pings_while_few_have_not_been_received) {
  for (std::uint32_t i = 0; i < ping_credit::pings_between_polls; ++i) {
    EXPECT_FALSE(flow_.holds(at(self)));
    ASSERT_NE(own_.reserve(1), nullptr);
    own_.commit({});
  }
  EXPECT_TRUE(flow_.holds(at(self)));
  EXPECT_FALSE(flow_.waits_for_calls(at(self))) << "its own thread receives them";
}

}  // namespace ping_flow_test
