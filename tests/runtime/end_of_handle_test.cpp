// Handles of nodes that do not answer: given up when their time is over, said once, and waited for again later.
#include "runtime/end_of_handle.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace end_of_handle_test {

using namespace ham;
using namespace ham::test;
using detail::sign_of_life;
using detail::to_byte;
using detail::wire_kind;

int handle_echo(int value) { return value; }

class handles_end : public testing::Test {
 protected:
  handles_end() {
    ::setenv("HAM_CLOSE_TIMEOUT", "0.1", 1);
    while (peer_.receive()) {
    }
  }
  ~handles_end() override { ::unsetenv("HAM_CLOSE_TIMEOUT"); }

  /// Until it is given up.
  void give_up() {
    sign_of_life sign(world_.node(), peer_.number, "a buffer");
    while (sign.wait_on()) {
    }
  }
  [[nodiscard]] bool given_up() {
    return world_.node().peer_of(peer_.number)->given_up_at.load() != detail::peer::never;
  }
  std::optional<offload::future<int>> try_call() { return offload::try_async(peer_.number, fn<&handle_echo>, 1); }

  world world_;
  detail::engine_scope scope_{&world_.node()};
  world::peer& peer_ = world_.friendly();
};

TEST_F(handles_end, a_node_that_shows_nothing_is_given_up_and_told_of) {
  testing::internal::CaptureStderr();
  give_up();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(given_up());
  EXPECT_EQ(said.find("ham: node 1: a buffer of node " + std::to_string(peer_.number) +
                      " is left to that node, which has not answered for "),
            0U)
      << said;
  EXPECT_NE(said.find(" s (it hangs, computes, or cannot be reached); it ends there if the node goes on\n"),
            std::string::npos)
      << said;
}

TEST_F(handles_end, nobody_waits_again_for_a_node_that_was_given_up) {
  testing::internal::CaptureStderr();
  give_up();
  static_cast<void>(testing::internal::GetCapturedStderr());
  testing::internal::CaptureStderr();
  sign_of_life next(world_.node(), peer_.number, "an object");
  EXPECT_FALSE(next.wait_on());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "said once";
}

TEST_F(handles_end, a_node_that_takes_something_is_waited_for_again) {
  auto unanswered = offload::async(peer_.number, fn<&handle_echo>, 1);
  testing::internal::CaptureStderr();
  give_up();
  static_cast<void>(testing::internal::GetCapturedStderr());
  while (peer_.receive()) {
  }
  ::setenv("HAM_CLOSE_TIMEOUT", "1000", 1);
  sign_of_life next(world_.node(), peer_.number, "an object");
  EXPECT_TRUE(next.wait_on());
  EXPECT_FALSE(given_up());
  unanswered.detach();
}

TEST_F(handles_end, a_node_that_is_lost_is_left_to_the_call) {
  const quiet silent;
  const detail::peer_hold who = world_.node().peer_of(peer_.number);
  sign_of_life sign(world_.node(), peer_.number, "a buffer");
  world_.node().events.on_lost(peer_.number, "it hung up");
  world_.step();
  EXPECT_TRUE(sign.wait_on());
  EXPECT_EQ(who->given_up_at.load(), detail::peer::never);
}

TEST_F(handles_end, a_call_that_is_not_answered_is_on_its_own) {
  const quiet silent;
  detail::end_handle(world_.node(), peer_.number, "a buffer", [&] { return try_call(); });
  EXPECT_TRUE(given_up());
  const auto asked = peer_.receive();
  ASSERT_TRUE(asked && asked->first.kind == to_byte(wire_kind::call));
  peer_.send({0, asked->first.call, to_byte(wire_kind::reply)}, bytes(4));
  world_.step();
  EXPECT_TRUE(peer_.open()) << "a late answer is dropped: " << peer_.reason();
}

TEST_F(handles_end, a_call_for_which_there_is_never_room_is_given_up) {
  const quiet silent;
  int tries = 0;
  bool has_room = false;
  detail::end_handle(world_.node(), peer_.number, "a buffer", [&]() -> std::optional<offload::future<int>> {
    ++tries;
    if (has_room) return try_call();
    return std::nullopt;
  });
  EXPECT_GT(tries, 1);
  EXPECT_TRUE(given_up());
  for (const int before = tries; tries == before;) world_.step();
  EXPECT_FALSE(peer_.receive()) << "there is no room yet";
  has_room = true;
  while (!peer_.receive()) world_.step();
  const int last = tries;
  for (const std::int64_t until = base::now_ns() + 200'000'000; base::now_ns() < until;) world_.step();
  EXPECT_EQ(tries, last) << "it was sent";
}

TEST_F(handles_end, a_call_without_room_is_tried_until_its_node_is_lost) {
  const quiet silent;
  const auto tries = std::make_shared<int>(0);
  detail::end_handle(world_.node(), peer_.number, "a buffer", [tries]() -> std::optional<offload::future<int>> {
    ++*tries;
    return std::nullopt;
  });
  world_.node().events.on_lost(peer_.number, "it hung up");
  while (tries.use_count() != 1) world_.step();
}

TEST_F(handles_end, what_the_call_throws_is_thrown) {
  const quiet silent;
  EXPECT_THROW(detail::end_handle(world_.node(), peer_.number, "a buffer",
                                  [&] {
                                    auto call = try_call();
                                    world_.node().events.on_lost(peer_.number, "it hung up");
                                    return call;
                                  }),
               node_failure);
}

}  // namespace end_of_handle_test
