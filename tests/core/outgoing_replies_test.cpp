// Replies never wait for room.
#include "core/outgoing_replies.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/idle_node.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/peer_table.hpp"

namespace outgoing_replies_test {

using namespace ham;
using detail::frame_header;
using detail::peer;
using detail::peer_state;
using detail::wire_kind;
using bytes = std::vector<std::byte>;

class outgoing_replies : public testing::Test {
 protected:
  outgoing_replies() {
    who_.to = &to_;
    who_.max_payload = to_.max_payload();
    who_.state = peer_state::ready;
  }
  void reply(std::size_t size) { replies_.reply_with(who_, frame_header::reply(5), bytes(size, std::byte{3})); }

  test::idle_node idle_;
  test::narrow_endpoint to_;
  detail::peer_table peers_{2};
  peer& who_ = *peers_.claim(1);
  detail::call_table calls_{nullptr, idle_.waits};
  detail::peer_events events_{peers_, idle_.waits};
  detail::outgoing_replies replies_{0, idle_.waits, events_, calls_};
};

TEST_F(outgoing_replies, a_small_one_is_one_frame) {
  to_.allowed = 1;
  reply(8);
  ASSERT_EQ(to_.heads.size(), 1U);
  EXPECT_EQ(frame_header::decode(to_.heads[0]).kind(), wire_kind::reply);
  EXPECT_EQ(frame_header::decode(to_.heads[0]).id(), 5U);
  EXPECT_EQ(to_.payloads[0], bytes(8, std::byte{3}));
}

TEST_F(outgoing_replies, one_without_room_waits_in_the_outbox_and_not_on_the_thread) {
  reply(8);
  EXPECT_TRUE(to_.heads.empty());
  EXPECT_EQ(peers_.filled_outboxes(), 1U);
  to_.allowed = 1;
  who_.flush_if_free();
  EXPECT_EQ(to_.heads.size(), 1U);
  EXPECT_EQ(peers_.filled_outboxes(), 0U);
}

TEST_F(outgoing_replies, behind_one_that_waits_the_order_is_kept) {
  reply(8);
  to_.allowed = 10;
  reply(9);
  ASSERT_EQ(to_.payloads.size(), 2U);
  EXPECT_EQ(to_.payloads[0].size(), 8U);
  EXPECT_EQ(to_.payloads[1].size(), 9U);
}

TEST_F(outgoing_replies, a_long_one_goes_in_fragments) {
  to_.allowed = 100;
  reply(500);
  EXPECT_GT(to_.heads.size(), 500U / 64);
  EXPECT_TRUE(who_.unsent.empty());
}

TEST_F(outgoing_replies, to_a_node_that_is_lost_go_nowhere) {
  who_.to = &detail::no_endpoint::instance();
  who_.state = peer_state::lost;
  reply(8);
  reply(500);
  EXPECT_EQ(peers_.filled_outboxes(), 0U);
  EXPECT_FALSE(events_.pending());
}

}  // namespace outgoing_replies_test
