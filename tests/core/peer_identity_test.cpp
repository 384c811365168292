#include "core/peer_identity.hpp"

#include <gtest/gtest.h>

#include <string>

namespace peer_identity_test {

using namespace ham;
using ham::detail::peer_identity;

node_failure thrown_by(const peer_identity& who, node_failure::details of) {
  try {
    std::rethrow_exception(who.failure(std::move(of)));
  } catch (const node_failure& why) {
    return why;
  }
}

node_failure::details call_of_solve() {
  node_failure::details of;
  of.node = 3;
  of.host = "started-here";
  of.pid = 100;
  of.function = "solve";
  of.outcome = call_outcome::not_run;
  return of;
}

TEST(peer_identity, knows_nothing_before_the_greeting) {
  const peer_identity who;
  EXPECT_EQ(who.host(), "");
  EXPECT_EQ(who.address(), "");
  EXPECT_EQ(who.loss(), "");
  EXPECT_LT(who.pid(), 0);
  const node_failure why = thrown_by(who, call_of_solve());
  EXPECT_EQ(why.host(), "started-here");
  EXPECT_EQ(why.pid(), 100);
}

TEST(peer_identity, tells_what_the_node_has_told) {
  peer_identity who;
  peer_identity::info of;
  of.name = "alpha";
  of.pid = 42;
  of.isa = "aarch64";
  who.introduce(of, "tcp://alpha:7000");
  who.set_device_type("emulated");
  EXPECT_EQ(who.host(), "alpha");
  EXPECT_EQ(who.pid(), 42);
  EXPECT_EQ(who.address(), "tcp://alpha:7000");
  EXPECT_EQ(who.description().isa, "aarch64");
  EXPECT_EQ(who.description().device_type, "emulated");
  who.set_device({"GPU", "9.0", "580", 132, 5});
  EXPECT_EQ(who.description().device.name, "GPU");
  EXPECT_EQ(who.description().device.processors, 132U);
}

TEST(peer_identity, a_failure_says_who_where_why_and_what_became_of_the_call) {
  peer_identity who;
  peer_identity::info of;
  of.name = "alpha";
  of.pid = 42;
  who.introduce(of, {});
  who.set_loss("its process was killed by signal 9");
  const node_failure why = thrown_by(who, call_of_solve());
  EXPECT_EQ(why.node(), 3);
  EXPECT_EQ(why.host(), "alpha");
  EXPECT_EQ(why.pid(), 42);
  EXPECT_EQ(why.outcome(), call_outcome::not_run);
  const std::string text = why.what();
  for (const char* const part : {"node 3", "alpha", "42", "solve", "its process was killed by signal 9"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(peer_identity, a_failure_says_what_the_node_did_last) {
  peer_identity who;
  who.set_loss("it was killed", false, "it was executing solve for 2.0 s");
  const std::string text = thrown_by(who, call_of_solve()).what();
  EXPECT_TRUE(text.ends_with("; it was executing solve for 2.0 s")) << text;
  EXPECT_EQ(who.loss(), "it was killed");
}

TEST(peer_identity, is_lost_in_a_child_after_fork) {
  peer_identity who;
  who.detach_after_fork("forked");
  EXPECT_EQ(who.loss(), "forked");
  EXPECT_EQ(who.address(), "");
}

}  // namespace peer_identity_test
