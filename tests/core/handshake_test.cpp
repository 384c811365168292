// What two nodes agree on before the first call between them.
#include "core/handshake.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/greeting.hpp"
#include "core/idle_node.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/peer_table.hpp"
#include "core/recorded_replies.hpp"
#include "ham/msg/manifest.hpp"

namespace handshake_test {

using namespace ham;
using detail::greeting;
using detail::peer;
using detail::peer_state;
using detail::wire_kind;
using bytes = std::vector<std::byte>;

constexpr node_t self = 0;
constexpr node_t other = 1;

class handshake : public testing::Test {
 protected:
  handshake() {
    detail::peer_identity::info me;
    me.name = "here";
    own_.about.introduce(me, {});
    who_.to = &to_;
    who_.max_payload = to_.max_payload();
    who_.state = peer_state::greeting;
    to_.medium = "narrow";
    agreement_.set_address("tcp://here:1");
    agreement_.limit_messages(5000);
  }
  static greeting theirs() {
    greeting made;
    made.manifest = msg::manifest::local().id();
    made.node.name = "there";
    made.node.pid = 12;
    made.address = "tcp://there:2";
    made.max_message = 700;
    return made;
  }
  static greeting of_other_revision() {
    greeting made = theirs();
    made.manifest = {1, 2};
    return made;
  }
  void arrives(const greeting& one) { agreement_.receive_greeting(who_, one.encode()); }

  test::idle_node idle_;
  test::narrow_endpoint to_;
  detail::peer_table peers_{2};
  peer& own_ = *peers_.claim(self);
  peer& who_ = *peers_.claim(other);
  test::recorded_replies replies_;
  detail::handshake agreement_{own_, msg::handler_table::local(), replies_, idle_.waits};
};

TEST_F(handshake, begins_with_a_greeting_that_says_who_this_node_is) {
  agreement_.greet(who_);
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].to, other);
  EXPECT_EQ(replies_.sent[0].head.kind(), wire_kind::hello);
  const greeting sent = greeting::decode(replies_.sent[0].bytes);
  EXPECT_EQ(sent.node.name, "here");
  EXPECT_EQ(sent.address, "tcp://here:1");
  EXPECT_EQ(sent.max_message, 5000U);
  EXPECT_TRUE(sent.manifest == msg::manifest::local().id());
}

TEST_F(handshake, is_over_when_the_other_node_has_the_same_handlers) {
  arrives(theirs());
  EXPECT_EQ(who_.state, peer_state::ready);
  EXPECT_EQ(who_.translation, nullptr);
  EXPECT_EQ(who_.max_message, 700U);
  EXPECT_EQ(who_.about.host(), "there");
  EXPECT_EQ(who_.about.address(), "tcp://there:2");
  EXPECT_EQ(who_.about.description().node, other) << "its number is not its own to say";
  EXPECT_EQ(who_.about.description().transport, "narrow");
  EXPECT_TRUE(replies_.sent.empty());
}

TEST_F(handshake, of_other_handlers_goes_on_with_both_manifests) {
  arrives(of_other_revision());
  EXPECT_EQ(who_.state, peer_state::greeting);
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].head.kind(), wire_kind::manifest);
  EXPECT_EQ(replies_.sent[0].bytes, msg::manifest::local().serialise());
  agreement_.receive_manifest(who_, msg::manifest(msg::data_layout::local(), {}).serialise());
  EXPECT_EQ(who_.state, peer_state::ready);
  ASSERT_NE(who_.translation, nullptr);
  EXPECT_EQ((*who_.translation)[0], msg::translation::missing);
}

TEST_F(handshake, has_one_greeting_only) {
  arrives(of_other_revision());
  EXPECT_THROW(arrives(theirs()), protocol_error);
  EXPECT_EQ(who_.state, peer_state::greeting);
}

TEST_F(handshake, has_no_manifest_before_the_greeting_nor_behind_its_end) {
  const bytes manifest = msg::manifest::local().serialise();
  EXPECT_THROW(agreement_.receive_manifest(who_, manifest), protocol_error);
  arrives(theirs());
  EXPECT_THROW(agreement_.receive_manifest(who_, manifest), protocol_error);
  EXPECT_EQ(who_.translation, nullptr);
}

TEST_F(handshake, with_bytes_that_mean_nothing_changes_nothing) {
  EXPECT_THROW(agreement_.receive_greeting(who_, bytes(5)), protocol_error);
  EXPECT_FALSE(who_.hello_seen);
  arrives(of_other_revision());
  EXPECT_THROW(agreement_.receive_manifest(who_, bytes(5)), protocol_error);
  EXPECT_EQ(who_.state, peer_state::greeting);
}

TEST_F(handshake, what_is_longer_than_a_frame_goes_through_the_memory_of_the_connection_if_it_has_some) {
  to_.long_memory.resize(1000);
  who_.max_payload = 500;
  arrives(theirs());
  EXPECT_EQ(who_.max_payload, to_.min_size() - 1);
}

}  // namespace handshake_test
