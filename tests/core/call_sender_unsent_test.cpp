// Calls that do not leave, by their deadlines and stop tokens.
#include <gtest/gtest.h>

#include <stop_token>

#include "core/sending_node.hpp"
#include "core/thread_state.hpp"
#include "ham/offload/stop.hpp"

namespace call_sender_test {

TEST_F(call_sender, a_deadline_that_passes_before_there_is_room_fails_the_call_as_not_run) {
  EXPECT_FALSE(send(8, soon(1'000'000)));
  EXPECT_NE(error<deadline_exceeded>().find("has not run"), std::string::npos);
  EXPECT_TRUE(to_.heads.empty());
}

TEST_F(call_sender, a_token_that_is_stopped_before_there_is_room_fails_the_call_as_not_run) {
  std::stop_source source;
  node_.on_progress = [&] { source.request_stop(); };
  for (const std::size_t size : {8, 500}) {
    source = {};
    const std::stop_token token = source.get_token();
    const detail::token_of_next_call ends_wait(&token);
    EXPECT_FALSE(send(size, offload::stoppable(other)));
    EXPECT_NE(error<operation_cancelled>().find("has not run"), std::string::npos);
  }
  EXPECT_TRUE(to_.heads.empty());
  EXPECT_TRUE(peers_[other].unsent.empty());
  EXPECT_EQ(peers_[other].calls_sent, 0U);
}

TEST_F(call_sender, a_token_that_is_stopped_before_the_node_is_ready_fails_the_call_as_not_run) {
  std::stop_source source;
  peers_[other].state = peer_state::unknown;
  node_.on_make_ready = [&](node_t) { source.request_stop(); };
  const auto expect_stopped = [&](const destination& to) {
    source = {};
    const std::stop_token token = source.get_token();
    const detail::token_of_next_call ends_wait(&token);
    EXPECT_FALSE(send(8, to));
    EXPECT_NE(error<operation_cancelled>().find("has not run"), std::string::npos);
  };
  expect_stopped(offload::stoppable(other));
  node_.late = true;
  expect_stopped(soon(second_ns));
  EXPECT_TRUE(to_.heads.empty());
}

TEST_F(call_sender, a_token_is_that_of_one_call_and_not_of_what_is_executed_meanwhile) {
  std::stop_source source;
  const std::stop_token token = source.get_token();
  const detail::token_of_next_call ends_wait(&token);
  int inner = 0;
  node_.on_progress = [&] {
    source.request_stop();
    if (inner++ != 0) return;
    ++detail::this_thread.depth;
    EXPECT_FALSE(send(8, soon(1'000'000))) << "there is still no room";
    EXPECT_FALSE(error<deadline_exceeded>().empty()) << "the token is not its own";
    --detail::this_thread.depth;
  };
  EXPECT_FALSE(send(8, offload::stoppable(other)));
  EXPECT_FALSE(error<operation_cancelled>().empty());
  EXPECT_FALSE(send(8, soon(1'000'000)));
  EXPECT_FALSE(error<deadline_exceeded>().empty()) << "it was the one before that had the token";
}

TEST_F(call_sender, a_long_call_of_which_nothing_has_left_by_its_deadline_is_taken_back) {
  EXPECT_FALSE(send(500, soon(1'000'000)));
  EXPECT_NE(error<deadline_exceeded>().find("has not run"), std::string::npos);
  EXPECT_TRUE(peers_[other].unsent.empty());
  EXPECT_EQ(peers_[other].calls_sent, 0U);
}

}  // namespace call_sender_test
