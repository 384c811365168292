// What the host passes on, and what it refuses to.
#include "core/relay_forwarder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/credit.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/recorded_replies.hpp"
#include "core/relay_frame.hpp"
#include "core/wire.hpp"
#include "ham/error.hpp"

namespace relay_forwarder_test {

using namespace ham;
using detail::frame_header;
using detail::peer;
using detail::peer_state;
using detail::to_byte;
using detail::wire_kind;
using bytes = std::vector<std::byte>;

constexpr node_t one = 1;
constexpr node_t two = 2;

/// The text of an end.
std::string text_of(const bytes& payload) {
  return {reinterpret_cast<const char*>(payload.data()) + detail::relay_sender_bytes,
          payload.size() - detail::relay_sender_bytes};
}

class neighbours final : public detail::relaying_node {
 public:
  std::vector<node_t> approached;
  void approach(node_t node) noexcept override { approached.push_back(node); }
};

class relay_forwarder : public testing::Test {
 protected:
  relay_forwarder() {
    for (const node_t node : {0, one, two}) {
      peer& who = *peers_.claim(node);
      who.hello_seen = true;
      who.state = peer_state::ready;
    }
  }
  void forward(node_t from, node_t to, std::uint32_t what, const bytes& text) {
    peer* const liar = forwarder_.forward(peers_[from], frame_header::relayed(static_cast<std::uint32_t>(to), what),
                                          test::of_sender(static_cast<std::uint32_t>(from), text));
    if (liar != nullptr) liars_.push_back(liar->node);
  }
  /// A frame with so many bytes.
  void send(node_t from, node_t to, std::size_t size = 4) {
    forward(from, to, to_byte(wire_kind::call), bytes(detail::relay_head_bytes + size));
  }
  /// A frame that the host has taken for a node which takes nothing.
  void keep_for(peer& to, node_t from, std::size_t size) {
    to.to = &full_;
    to.max_payload = full_.max_payload();
    detail::reply_room room;
    to.begin_reply(size, room);  // as the node's replies do
    const auto head = frame_header::relayed(static_cast<std::uint32_t>(from), to_byte(wire_kind::call));
    EXPECT_FALSE(to.finish_queued_reply(head, room));
  }

  test::narrow_endpoint full_;
  detail::peer_table peers_{3};
  std::vector<node_t> liars_;
  test::recorded_replies replies_;
  detail::routes ways_{0};
  neighbours node_;
  detail::relay_forwarder forwarder_{node_, 0, ways_, peers_, replies_};
};

TEST_F(relay_forwarder, a_frame_goes_on_as_it_is) {
  bytes payload(20);
  payload[13] = std::byte{99};
  forward(one, two, to_byte(wire_kind::reply), payload);
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].to, two);
  EXPECT_EQ(replies_.sent[0].head.kind(), wire_kind::relay);
  EXPECT_EQ(replies_.sent[0].head.relay_receiver(), 2U);
  EXPECT_EQ(replies_.sent[0].head.relay_what(), to_byte(wire_kind::reply));
  EXPECT_EQ(replies_.sent[0].bytes, test::of_sender(1, payload));
}

TEST_F(relay_forwarder, more_than_the_window_is_refused_until_it_was_consumed) {
  constexpr std::size_t half = detail::relay_window / 2 - detail::relay_frame_bytes;
  send(one, two, half);
  send(one, two, half);
  EXPECT_THROW(send(one, two, 0), protocol_error);
}

TEST_F(relay_forwarder, what_was_consumed_makes_room) {
  constexpr std::size_t half = detail::relay_window / 2 - detail::relay_frame_bytes;
  send(one, two, half);
  send(one, two, half);
  forward(two, one, detail::relay_credit, test::credit(detail::relay_window / 2));
  send(one, two, half);
  EXPECT_EQ(replies_.sent.size(), 4U) << "the credit reaches the sender";
}

TEST_F(relay_forwarder, credits_that_are_wrong_are_refused) {
  send(one, two, detail::relay_window / 2);
  EXPECT_THROW(forward(two, one, detail::relay_credit, test::credit(1'000'000)), protocol_error)
      << "more than was sent";
  EXPECT_THROW(forward(two, one, detail::relay_credit, test::credit(36)), protocol_error) << "each costs a message";
  forward(two, one, detail::relay_credit, test::credit(detail::relay_credit_step));
  EXPECT_THROW(forward(two, one, detail::relay_credit, test::credit(detail::relay_credit_step)), protocol_error)
      << "no more than before";
  EXPECT_THROW(forward(two, one, detail::relay_credit, bytes(3)), protocol_error);
  EXPECT_THROW(forward(one, two, detail::relay_credit, test::credit(detail::relay_credit_step)), protocol_error)
      << "it has got nothing";
}

/// Otherwise the host would keep without limit what the receiver says it has got.
TEST_F(relay_forwarder, a_receiver_that_acknowledges_what_it_has_not_got_is_to_blame) {
  peer& to = peers_[two];
  constexpr std::size_t half = detail::relay_window / 2 - detail::relay_frame_bytes;
  std::uint64_t sent = 0;
  for (int i = 0; i < 40 && liars_.empty(); ++i) {
    keep_for(to, one, half);
    send(one, two, half);
    sent += detail::relay_window / 2;
    forward(two, one, detail::relay_credit, test::credit(sent));
  }
  EXPECT_EQ(liars_, std::vector<node_t>{two});
  EXPECT_GT(to.unsent.relayed_bytes(), 8 * detail::relay_window) << "not before";
}

/// What it has not acknowledged may still wait here, also when its sender is gone.
TEST_F(relay_forwarder, a_receiver_that_takes_nothing_is_not_to_blame_for_senders_that_have_gone) {
  peer& to = peers_[two];
  constexpr std::size_t window = detail::relay_window - detail::relay_frame_bytes;
  ASSERT_TRUE(peers_.grow_to(40));
  for (node_t sender = 3; sender < 30; ++sender) {
    peer& who = *peers_.claim(sender);
    who.hello_seen = true;
    who.state = peer_state::ready;
    keep_for(to, sender, window);
    send(sender, two, window);
    who.state = peer_state::lost;
    forwarder_.lose(sender, "it ended");
  }
  send(one, two);
  EXPECT_TRUE(liars_.empty());
}

TEST_F(relay_forwarder, what_comes_for_a_node_that_is_starting_waits_for_it) {
  peers_[two].state = peer_state::greeting;
  send(one, two, 5);
  send(one, two, 6);
  EXPECT_TRUE(replies_.sent.empty());
  peers_[two].state = peer_state::ready;
  forwarder_.join(peers_[two]);
  ASSERT_EQ(replies_.sent.size(), 2U);
  EXPECT_EQ(replies_.sent[0].bytes.size(), detail::relay_prefix_bytes + 5);
  EXPECT_EQ(replies_.sent[1].bytes.size(), detail::relay_prefix_bytes + 6);
  EXPECT_EQ(detail::sender_of_relayed(replies_.sent[0].bytes), 1);
  forwarder_.join(peers_[two]);
  EXPECT_EQ(replies_.sent.size(), 2U) << "once";
}

TEST_F(relay_forwarder, a_node_that_does_not_start_takes_what_came_for_it_along) {
  peers_[two].state = peer_state::connecting;
  send(one, two);
  peers_[two].state = peer_state::lost;
  forwarder_.lose(two, "it did not start");
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].head.relay_what(), detail::relay_end);
  forwarder_.join(peers_[two]);
  EXPECT_EQ(replies_.sent.size(), 1U);
}

TEST_F(relay_forwarder, frames_to_nobody_are_refused) {
  for (const node_t to : {node_t{0}, one, node_t{-1}, node_t{77}}) EXPECT_THROW(send(one, to), protocol_error) << to;
  EXPECT_THROW(forward(one, two, to_byte(wire_kind::call), bytes(3)), protocol_error) << "without a prefix";
  for (const std::uint32_t none : {0U, to_byte(wire_kind::relay) + 0U, 0x7fU, 200U, 0x102U})
    EXPECT_THROW(forward(one, two, none, bytes(20)), protocol_error) << none;
  peers_[one].hello_seen = false;
  EXPECT_THROW(send(one, two), protocol_error) << "before its greeting";
  EXPECT_TRUE(replies_.sent.empty());
}

TEST_F(relay_forwarder, whoever_asks_for_a_node_that_is_gone_is_told_why_once) {
  ASSERT_TRUE(peers_.grow_to(78));
  peers_[two].about.set_loss("it was removed");
  peers_[two].state = peer_state::lost;
  send(one, two);
  send(one, two);
  send(one, 77);
  forward(one, 77, detail::relay_credit, test::credit(99));  // of a connection that was forgotten with the node
  ASSERT_EQ(replies_.sent.size(), 2U);
  EXPECT_EQ(replies_.sent[0].to, one);
  EXPECT_EQ(replies_.sent[0].head.relay_receiver(), 1U);
  EXPECT_EQ(detail::sender_of_relayed(replies_.sent[0].bytes), two);
  EXPECT_EQ(replies_.sent[0].head.relay_what(), detail::relay_end);
  EXPECT_EQ(text_of(replies_.sent[0].bytes), "it was removed");
  EXPECT_EQ(detail::sender_of_relayed(replies_.sent[1].bytes), 77);
}

TEST_F(relay_forwarder, the_loss_of_a_node_is_told_to_those_that_talked_to_it) {
  send(one, two);
  replies_.sent.clear();
  peers_[two].state = peer_state::lost;
  forwarder_.lose(two, "it died");
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].to, one);
  EXPECT_EQ(replies_.sent[0].head.relay_what(), detail::relay_end);
  EXPECT_EQ(text_of(replies_.sent[0].bytes), "it died");
  forwarder_.lose(two, "it died");
  EXPECT_EQ(replies_.sent.size(), 1U) << "once";
}

TEST_F(relay_forwarder, the_loss_of_the_sender_is_told_to_the_receiver) {
  send(one, two);
  replies_.sent.clear();
  peers_[one].state = peer_state::lost;
  forwarder_.lose(one, "it died");
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].to, two);
}

TEST_F(relay_forwarder, one_end_may_end_it) {
  send(one, two);
  forward(one, two, detail::relay_end, bytes(5000));
  EXPECT_EQ(replies_.sent.back().head.relay_what(), detail::relay_end);
  EXPECT_EQ(replies_.sent.back().bytes.size(), detail::relay_sender_bytes + detail::relay_max_reason);
  replies_.sent.clear();
  forward(one, two, detail::relay_end, {});
  forwarder_.lose(two, "it died");
  EXPECT_TRUE(replies_.sent.empty());
}

/// What was under way when one side ended it is no offence of the other one.
TEST_F(relay_forwarder, behind_an_end_nothing_is_passed_on_and_the_rest_still_counts) {
  constexpr std::size_t half = detail::relay_window / 2 - detail::relay_frame_bytes;
  send(one, two, half);
  send(two, one, half);
  forward(one, two, detail::relay_end, {});
  replies_.sent.clear();
  send(two, one, half);
  forward(two, one, detail::relay_credit, test::credit(detail::relay_window / 2));
  send(one, two);
  forward(two, one, detail::relay_end, {});
  EXPECT_TRUE(replies_.sent.empty());
  EXPECT_THROW(send(two, one, 0), protocol_error) << "the window is no larger for it";
}

/// Rank 1 of three ranks: target 3 is rank 1's, targets 4 and 5 are rank 2's.
class relay_gateway : public testing::Test {
 protected:
  relay_gateway() {
    ways_.set_neighbours(1, 3);
    ways_.add(3, 1);
    ways_.add(4, 2);
    ways_.add(5, 2);
    for (const node_t node : {0, 2, 3}) {
      peer& who = *peers_.claim(node);
      who.hello_seen = true;
      who.state = peer_state::ready;
    }
  }
  void forward(node_t from, node_t sender, node_t to, std::uint32_t what = to_byte(wire_kind::call)) {
    static_cast<void>(forwarder_.forward(peers_[from], frame_header::relayed(static_cast<std::uint32_t>(to), what),
                                         test::of_sender(static_cast<std::uint32_t>(sender), bytes(20))));
  }

  detail::peer_table peers_{6};
  detail::routes ways_{1};
  neighbours node_;
  test::recorded_replies replies_;
  detail::relay_forwarder forwarder_{node_, 1, ways_, peers_, replies_};
};

TEST_F(relay_gateway, what_its_target_sends_goes_to_whoever_is_next) {
  forward(3, 3, 4);
  forward(3, 3, 0);
  forward(3, 3, 2);
  ASSERT_EQ(replies_.sent.size(), 3U);
  EXPECT_EQ(replies_.sent[0].to, 2) << "which has started it";
  EXPECT_EQ(replies_.sent[0].head.relay_receiver(), 4U);
  EXPECT_EQ(replies_.sent[1].to, 0);
  EXPECT_EQ(replies_.sent[2].to, 2);
  EXPECT_EQ(replies_.sent[2].head.relay_receiver(), 2U);
  EXPECT_EQ(node_.approached, (std::vector<node_t>{2, 0, 2})) << "ranks meet when they need each other";
}

TEST_F(relay_gateway, what_is_sent_to_its_target_arrives_by_whoever_is_last) {
  forward(2, 4, 3);
  forward(2, 2, 3);
  forward(0, 0, 3);
  ASSERT_EQ(replies_.sent.size(), 3U);
  for (const auto& one : replies_.sent) EXPECT_EQ(one.to, 3);
  EXPECT_EQ(detail::sender_of_relayed(replies_.sent[0].bytes), 4);
}

TEST_F(relay_gateway, nobody_speaks_for_others) {
  EXPECT_THROW(forward(3, 4, 0), protocol_error);
  EXPECT_THROW(forward(0, 4, 3), protocol_error);
  EXPECT_THROW(forward(2, 0, 3), protocol_error);
  EXPECT_THROW(forward(2, 3, 0), protocol_error);
  EXPECT_THROW(forward(2, 1, 3), protocol_error) << "this very node";
}

TEST_F(relay_gateway, what_is_nobodys_of_its_own_is_not_passed_on) {
  EXPECT_THROW(forward(2, 2, 0), protocol_error);
  EXPECT_THROW(forward(2, 4, 0), protocol_error);
  EXPECT_THROW(forward(0, 0, 4), protocol_error);
  EXPECT_TRUE(replies_.sent.empty());
}

TEST_F(relay_gateway, with_a_rank_its_targets_are_lost) {
  forward(3, 3, 4);
  forward(2, 5, 3);
  forward(3, 3, 0);
  replies_.sent.clear();
  peers_[2].state = peer_state::lost;
  forwarder_.lose(2, "it died");
  ASSERT_EQ(replies_.sent.size(), 2U);
  for (const auto& one : replies_.sent) {
    EXPECT_EQ(one.to, 3);
    EXPECT_EQ(one.head.relay_what(), detail::relay_end);
    EXPECT_EQ(text_of(one.bytes), "it died");
  }
  EXPECT_EQ(detail::sender_of_relayed(replies_.sent[0].bytes), 4);
  EXPECT_EQ(detail::sender_of_relayed(replies_.sent[1].bytes), 5);
}

TEST_F(relay_gateway, the_host_hears_of_a_target_that_was_lost_before_they_met) {
  forwarder_.lose(3, "its program is not there");
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].to, 0);
  EXPECT_EQ(replies_.sent[0].head.relay_receiver(), 0U);
  EXPECT_EQ(detail::sender_of_relayed(replies_.sent[0].bytes), 3);
  EXPECT_EQ(text_of(replies_.sent[0].bytes), "its program is not there");
}

TEST_F(relay_gateway, the_host_hears_of_a_lost_target_once) {
  forward(3, 3, 0);
  replies_.sent.clear();
  peers_[3].state = peer_state::lost;
  forwarder_.lose(3, "it died");
  EXPECT_EQ(replies_.sent.size(), 1U);
}

}  // namespace relay_forwarder_test
