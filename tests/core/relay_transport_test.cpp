// Endpoints whose frames travel inside frames to the host.
#include "core/relay_transport.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/credit.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/recorded_replies.hpp"
#include "core/wire.hpp"
#include "ham/error.hpp"

namespace relay_transport_test {

using namespace ham;
using detail::frame_header;
using detail::peer;
using detail::peer_state;
using detail::to_byte;
using detail::wire_kind;
using bytes = std::vector<std::byte>;

constexpr node_t self = 1;
constexpr node_t far = 2;

class watcher final : public transport::observer {
 public:
  std::vector<transport::endpoint*> connected;
  std::vector<std::string> lost, broken;
  void on_connected(transport::endpoint& with) override { connected.push_back(&with); }
  void on_broken(node_t node, const std::string& why) override {
    EXPECT_EQ(node, far);
    broken.push_back(why);
  }
  void on_lost(node_t, const std::string& why) override { lost.push_back(why); }
};

class relay_transport : public testing::Test {
 protected:
  relay_transport() {
    peer& host = *peers_.claim(0);
    host.to = &to_host_;
    host.max_payload = to_host_.max_payload();
    host.state = peer_state::ready;
  }
  transport::endpoint& connected() {
    relay_.connect(far);
    return *watcher_.connected.at(0);
  }
  static bytes inside(std::uint32_t key, std::uint32_t call, bytes payload) {
    bytes all(detail::relay_head_bytes);
    for (std::size_t i = 0; i < 4; ++i) {
      all[i] = static_cast<std::byte>(key >> (8 * i));
      all[4 + i] = static_cast<std::byte>(call >> (8 * i));
    }
    all.insert(all.end(), payload.begin(), payload.end());
    return all;
  }
  void arrives(const bytes& frame, wire_kind kind = wire_kind::call) { relay_.take(far, to_byte(kind), frame); }
  static bool send(transport::endpoint& to, std::size_t size) {
    std::byte* const room = to.reserve(size);
    if (room == nullptr) return false;
    std::fill_n(room, size, std::byte{5});
    to.commit({7, 8, to_byte(wire_kind::call)});
    return true;
  }

  test::narrow_endpoint to_host_;
  detail::peer_table peers_{3};
  test::recorded_replies replies_;
  watcher watcher_;
  detail::routes ways_{self};
  detail::relay_transport relay_{self, ways_, peers_, replies_, watcher_};
};

TEST_F(relay_transport, a_node_is_connected_once) {
  relay_.connect(far);
  relay_.connect(far);
  ASSERT_EQ(watcher_.connected.size(), 1U);
  EXPECT_EQ(watcher_.connected[0]->peer(), far);
  EXPECT_STREQ(watcher_.connected[0]->medium, "through node 0");
  EXPECT_EQ(watcher_.connected[0]->max_payload(), to_host_.max_payload() - detail::relay_prefix_bytes);
}

TEST_F(relay_transport, a_frame_travels_inside_a_frame_to_the_host) {
  to_host_.allowed = 1;
  ASSERT_TRUE(send(connected(), 3));
  const frame_header head = frame_header::decode(to_host_.heads.at(0));
  EXPECT_EQ(head.kind(), wire_kind::relay);
  EXPECT_EQ(head.relay_receiver(), 2U);
  EXPECT_EQ(head.relay_what(), to_byte(wire_kind::call));
  EXPECT_EQ(to_host_.payloads.at(0), test::of_sender(1, inside(7, 8, bytes(3, std::byte{5}))));
  EXPECT_TRUE(peers_[0].sending.try_lock()) << "the lock was given back";
  peers_[0].sending.unlock();
}

TEST_F(relay_transport, without_room_on_the_way_to_the_host_there_is_none) {
  EXPECT_FALSE(send(connected(), 3));
  EXPECT_TRUE(peers_[0].sending.try_lock()) << "the lock was given back";
  peers_[0].sending.unlock();
  to_host_.allowed = 1;
  std::byte* const room = connected().reserve(3);
  ASSERT_NE(room, nullptr);
  connected().cancel();
  EXPECT_TRUE(to_host_.heads.empty());
  EXPECT_TRUE(peers_[0].sending.try_lock());
  peers_[0].sending.unlock();
}

TEST_F(relay_transport, a_window_bounds_what_is_under_way) {
  to_host_.allowed = 1 << 20;
  transport::endpoint& to = connected();
  const std::size_t size = to.max_payload();
  const auto fits = static_cast<std::size_t>(detail::relay_window / (size + detail::relay_frame_bytes));
  for (std::size_t i = 0; i < fits; ++i) ASSERT_TRUE(send(to, size)) << i;
  EXPECT_FALSE(send(to, size));
  relay_.take(far, detail::relay_credit, test::credit(size + detail::relay_frame_bytes));
  EXPECT_TRUE(send(to, size));
  EXPECT_FALSE(send(to, size));
}

TEST_F(relay_transport, credits_for_what_was_not_sent_end_the_connection_to_the_node) {
  static_cast<void>(connected());
  relay_.take(far, detail::relay_credit, test::credit(1));
  relay_.take(far, detail::relay_credit, bytes(4));
  EXPECT_EQ(watcher_.broken, (std::vector<std::string>{"a credit for what was not sent", "a credit of another size"}));
}

/// It may come before the sender goes on.
TEST_F(relay_transport, a_frame_is_acknowledged_as_soon_as_it_has_left) {
  to_host_.allowed = 1;
  transport::endpoint& to = connected();
  to_host_.on_commit = [this] { relay_.take(far, detail::relay_credit, test::credit(3 + detail::relay_frame_bytes)); };
  ASSERT_TRUE(send(to, 3));
  EXPECT_EQ(watcher_.broken, std::vector<std::string>{});
}

TEST_F(relay_transport, the_first_frame_of_a_node_connects_it) {
  arrives(inside(1, 2, {std::byte{9}}));
  ASSERT_EQ(watcher_.connected.size(), 1U);
  EXPECT_FALSE(relay_.arm()) << "there is a frame";
  transport::frame frame;
  ASSERT_EQ(relay_.poll(frame, 1), watcher_.connected[0]);
  EXPECT_EQ(frame.head.key, 1U);
  EXPECT_EQ(frame.head.call, 2U);
  EXPECT_EQ(frame.head.kind, to_byte(wire_kind::call));
  EXPECT_EQ(bytes(frame.payload.begin(), frame.payload.end()), bytes{std::byte{9}});
  EXPECT_EQ(frame.payload.data()[transport::readable_payload - 1], std::byte{}) << "may be read";
  watcher_.connected[0]->release();
  EXPECT_EQ(relay_.poll(frame, 1), nullptr);
  EXPECT_TRUE(relay_.arm());
}

TEST_F(relay_transport, the_sender_is_told_what_was_consumed) {
  constexpr std::size_t size = detail::relay_window / 4;
  arrives(inside(1, 2, bytes(size / 2)));
  arrives(inside(1, 2, bytes(size)));
  transport::frame frame;
  relay_.poll(frame, 1)->release();
  EXPECT_TRUE(replies_.sent.empty()) << "not for every frame";
  relay_.poll(frame, 1)->release();
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].to, 0);
  EXPECT_EQ(replies_.sent[0].head.relay_receiver(), 2U);
  EXPECT_EQ(replies_.sent[0].head.relay_what(), detail::relay_credit);
  EXPECT_EQ(replies_.sent[0].bytes, test::of_sender(1, test::credit(size / 2 + size + 2 * detail::relay_frame_bytes)));
}

TEST_F(relay_transport, what_is_no_frame_ends_the_connection_to_the_node) {
  relay_.take(far, 0x7f, bytes(20));
  relay_.take(far, 0x102, bytes(20));
  arrives(bytes(20), wire_kind::relay);
  arrives(bytes(detail::relay_head_bytes - 1));
  EXPECT_EQ(watcher_.broken, std::vector<std::string>(4, "a relayed frame that is none"));
  EXPECT_TRUE(watcher_.connected.empty());
}

TEST_F(relay_transport, when_the_host_reaches_a_node_no_more_it_is_lost_behind_what_it_has_sent) {
  transport::endpoint& to = connected();
  arrives(inside(1, 2, {}), wire_kind::reply);
  const std::string why = "it died";
  relay_.take(far, detail::relay_end, std::as_bytes(std::span(why)));
  EXPECT_TRUE(watcher_.lost.empty()) << "what arrived before counts";
  arrives(inside(1, 2, {}));  // cannot be of it any more
  transport::frame frame;
  EXPECT_EQ(relay_.poll(frame, 1), &to);
  to.release();
  EXPECT_TRUE(watcher_.lost.empty());
  EXPECT_FALSE(relay_.arm()) << "the end is to be told";
  EXPECT_EQ(relay_.poll(frame, 1), nullptr);
  EXPECT_EQ(watcher_.lost, std::vector<std::string>{"it died"});
  to.close("it died");
  EXPECT_TRUE(replies_.sent.empty()) << "who ended it knows";
  EXPECT_EQ(relay_.poll(frame, 1), nullptr);
}

TEST_F(relay_transport, who_closes_tells_the_other_side) {
  transport::endpoint& to = connected();
  to.close("it sent nonsense");
  EXPECT_EQ(to.state(), transport::endpoint_state::closed);
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].head.relay_what(), detail::relay_end);
}

TEST_F(relay_transport, a_forgotten_endpoint_goes_with_what_waits_of_it) {
  transport::endpoint& to = connected();
  arrives(inside(1, 2, {}));
  relay_.forget(to);
  EXPECT_TRUE(relay_.arm());
  transport::frame frame;
  EXPECT_EQ(relay_.poll(frame, 1), nullptr);
}

TEST_F(relay_transport, a_node_is_met_once) {
  transport::endpoint& to = connected();
  relay_.forget(to);
  arrives(inside(1, 2, {}));
  relay_.take(far, detail::relay_credit, test::credit(1));
  relay_.take(far, detail::relay_end, {});
  EXPECT_EQ(watcher_.connected.size(), 1U);
  EXPECT_TRUE(watcher_.broken.empty()) << "it was under way";
  EXPECT_TRUE(watcher_.lost.empty());
  relay_.connect(far);
  EXPECT_EQ(watcher_.connected.size(), 1U);
  EXPECT_EQ(watcher_.broken, std::vector<std::string>{"it was connected before"});
}

TEST_F(relay_transport, with_the_host_all_are_lost) {
  static_cast<void>(connected());
  arrives(inside(1, 2, {}), wire_kind::reply);
  relay_.lose_behind(far, "another one");
  relay_.lose_behind(0, "it died");
  transport::frame frame;
  ASSERT_NE(relay_.poll(frame, 1), nullptr) << "what arrived before counts";
  watcher_.connected[0]->release();
  EXPECT_EQ(relay_.poll(frame, 1), nullptr);
  EXPECT_EQ(watcher_.lost, std::vector<std::string>{"node 0, through which it is reached, is lost (it died)"});
}

TEST_F(relay_transport, without_a_host_nobody_is_reached) {
  peers_[0].state = peer_state::lost;
  relay_.connect(far);
  EXPECT_TRUE(watcher_.connected.empty());
  EXPECT_EQ(watcher_.broken, std::vector<std::string>{"no node 0, through which it is reached"});
}

TEST_F(relay_transport, without_a_host_nothing_is_sent) {
  transport::endpoint& to = connected();
  peers_[0].state = peer_state::lost;
  to_host_.allowed = 1;
  EXPECT_FALSE(send(to, 3));
  to.close("over");
  EXPECT_TRUE(replies_.sent.empty());
}

/// Node 0 waits for the targets of ranks.
TEST_F(relay_transport, those_that_have_not_connected_are_lost_with_whoever_starts_them) {
  detail::routes ways(0);
  ways.add(far, self);
  detail::relay_transport relay(0, ways, peers_, replies_, watcher_);
  relay.lose_behind(self, "it died");
  EXPECT_EQ(watcher_.lost, std::vector<std::string>{"node 1, through which it is reached, is lost (it died)"});
}

}  // namespace relay_transport_test
