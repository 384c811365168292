// Calls that can be stopped: their words, their nested calls, the list of those that run.
#include "core/call_stops.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "core/peer.hpp"
#include "core/peer_table.hpp"

namespace {

using namespace ham;
using detail::call_stop;

class stopped_node final : public detail::stopped_node {
 public:
  void receive_stops(bool all) noexcept override { ++(all ? receives_all : receives); }
  void stop_nested(const detail::nested_call& call) noexcept override { stopped.push_back(call); }
  void stop_nested_locked(const detail::nested_call& call) noexcept override { stopped.push_back(call); }
  void drop_settled(std::vector<detail::nested_call>& calls) noexcept override {
    ++drops;
    calls.clear();
  }
  void count_stoppable(int more) noexcept override { running += more; }
  int receives = 0;
  int receives_all = 0;
  int drops = 0;
  int running = 0;
  std::vector<detail::nested_call> stopped;
};

class call_stops : public testing::Test {
 protected:
  std::shared_ptr<call_stop> make(std::atomic<std::uint64_t>* word, std::int64_t deadline = base::never_ns) {
    return std::make_shared<call_stop>(node_, call_stop::origin{nullptr, peers_.claim(1), 7}, deadline, word, mark);
  }
  std::shared_ptr<call_stop> list(const detail::peer* from, std::uint32_t id) {
    return stops_.begin(
        std::make_shared<call_stop>(node_, call_stop::origin{nullptr, from, id}, base::never_ns, &word_, mark));
  }
  static constexpr std::uint64_t mark = 0x200000007;
  stopped_node node_;
  detail::peer_table peers_{3};
  std::atomic<std::uint64_t> word_{0};
  detail::call_stops stops_;
};

TEST_F(call_stops, a_word_with_its_mark_stops_a_call_for_good) {
  const auto call = make(&word_);
  EXPECT_FALSE(call->requested());
  EXPECT_EQ(node_.receives, 0) << "nothing is received while the word says nothing";
  word_ = mark;
  EXPECT_TRUE(call->requested());
  word_ = 0;
  EXPECT_TRUE(call->requested());
}

TEST_F(call_stops, a_word_that_another_call_needs_does_not_stop_it_and_has_it_receive) {
  const auto call = make(&word_);
  word_ = mark + 64;
  EXPECT_FALSE(call->requested());
  EXPECT_EQ(node_.receives + node_.receives_all, 1) << "its own mark may have been there before";
  EXPECT_EQ(node_.receives_all, 1) << "its frame may be behind the one that frees the word";
}

TEST_F(call_stops, a_word_that_was_overwritten_and_freed_is_not_believed_for_ever) {
  const auto call = make(&word_);
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
       node_.receives == 0 && std::chrono::steady_clock::now() < end;)
    EXPECT_FALSE(call->requested());
  EXPECT_GT(node_.receives, 0);
}

TEST_F(call_stops, a_deadline_that_has_passed_is_seen_by_the_first_polls_beside_a_silent_word) {
  const auto call = make(&word_, base::now_ns() - 1);
  EXPECT_TRUE(call->requested()) << "a function that polls seldom must not have to poll 64 times";
}

TEST_F(call_stops, a_function_that_polls_seldom_reads_the_clock_each_time) {
  const auto call = make(&word_, base::now_ns() + 50'000'000);
  int polls_behind = 0;
  for (bool passed = false; !call->requested(); passed = base::now_ns() >= call->deadline_ns()) {
    polls_behind += passed ? 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LE(polls_behind, 1);
}

TEST_F(call_stops, before_it_begins_all_that_has_arrived_is_received_where_the_word_does_not_tell) {
  EXPECT_FALSE(make(&word_)->requested_before_begin());
  EXPECT_EQ(node_.receives_all, 0);
  word_ = mark;
  EXPECT_TRUE(make(&word_)->requested_before_begin());
  EXPECT_EQ(node_.receives_all, 0);
  word_ = mark + 64;
  EXPECT_FALSE(make(&word_)->requested_before_begin());
  EXPECT_EQ(node_.receives_all, 1);
  EXPECT_FALSE(make(nullptr)->requested_before_begin());
  EXPECT_EQ(node_.receives_all, 2);
}

TEST_F(call_stops, without_a_word_it_receives_now_and_then) {
  const auto call = make(nullptr);
  const std::int64_t begun = base::now_ns();
  while (base::now_ns() < begun + 2'000'000 || node_.receives < 2) EXPECT_FALSE(call->requested());
  EXPECT_GT(node_.receives, 1);
  EXPECT_LE(node_.receives, (base::now_ns() - begun) / 2000 + 1) << "at most every 2 us, however slow the polls are";
}

TEST_F(call_stops, without_a_word_a_deadline_that_has_passed_stops_it) {
  EXPECT_TRUE(make(nullptr, base::now_ns() - 1)->requested());
  EXPECT_FALSE(make(nullptr, base::now_ns() + 1'000'000'000'000)->requested());
}

TEST_F(call_stops, who_polls_often_reads_the_clock_at_every_64th_poll_at_least) {
  const std::int64_t deadline = base::now_ns() + 1'000'000;
  const auto call = make(nullptr, deadline);
  int late = 0;
  for (bool passed = false; !call->requested(); passed = base::now_ns() >= deadline) late += passed ? 1 : 0;
  EXPECT_LE(late, 64);
}

TEST_F(call_stops, the_calls_that_it_has_made_are_stopped_with_it) {
  const auto call = make(&word_);
  EXPECT_FALSE(call->add_nested({3, 30, 1}));
  EXPECT_FALSE(call->add_nested({4, 40, 1}));
  word_ = mark;
  EXPECT_TRUE(call->requested());
  EXPECT_EQ(node_.stopped, (std::vector<detail::nested_call>{{3, 30, 1}, {4, 40, 1}}));
  EXPECT_TRUE(call->add_nested({5, 50, 1})) << "at once";
  EXPECT_TRUE(call->take_nested().empty());
}

TEST_F(call_stops, calls_that_have_settled_are_dropped_now_and_then) {
  const auto call = make(&word_);
  for (std::uint32_t id = 0; id < 1000; ++id) EXPECT_FALSE(call->add_nested({id, id, 1}));
  EXPECT_GT(node_.drops, 10);
  EXPECT_LE(call->take_nested().size(), 64U);
}

TEST_F(call_stops, a_call_is_listed_until_its_last_copy_goes) {
  auto running = stops_.begin(make(&word_));
  EXPECT_EQ(node_.running, 1);
  const detail::peer& from = *running->of().from;
  EXPECT_EQ(stops_.find(from, 7), running);
  EXPECT_EQ(stops_.find(from, 8), nullptr);
  EXPECT_EQ(stops_.find(*peers_.claim(2), 7), nullptr);
  auto copy = running;
  running.reset();
  EXPECT_EQ(stops_.running(), 1U);
  const std::shared_ptr<detail::stop_state> token = copy->shared_from_this();
  copy.reset();
  EXPECT_EQ(stops_.running(), 0U) << "a token does not keep the call";
  EXPECT_EQ(node_.running, 0);
  word_ = mark;
  EXPECT_FALSE(token->requested()) << "nothing of its node is looked at any more";
}

TEST_F(call_stops, many_are_found_and_end_in_any_order) {
  const std::array from{peers_.claim(1), peers_.claim(2)};
  constexpr std::uint32_t calls = 1000;
  std::vector<std::shared_ptr<call_stop>> running;
  for (std::uint32_t i = 0; i < calls; ++i) running.push_back(list(from[i % 2], i / 2 << 12));
  EXPECT_EQ(stops_.running(), calls);
  for (std::uint32_t i = 0; i < calls; ++i) EXPECT_EQ(stops_.find(*from[i % 2], i / 2 << 12), running[i]);
  EXPECT_EQ(stops_.find(*from[0], 1), nullptr);
  for (std::uint32_t i = 0; i < calls; i += 3) running[i].reset();
  for (std::uint32_t i = 0; i < calls; ++i) EXPECT_EQ(stops_.find(*from[i % 2], i / 2 << 12), running[i]);
  running.clear();
  EXPECT_EQ(stops_.running(), 0U);
  EXPECT_EQ(stops_.find(*from[1], 0), nullptr);
  EXPECT_EQ(node_.running, 0);
}

/// 10^5 calls may wait for a device: with a search through all of them this would be 10^10 steps.
TEST_F(call_stops, as_many_as_wait_for_a_device_end_without_a_search_through_all) {
  detail::peer* const from = peers_.claim(1);
  constexpr std::uint32_t calls = 100'000;
  std::vector<std::shared_ptr<call_stop>> running;
  for (std::uint32_t i = 0; i < calls; ++i) running.push_back(list(from, i));
  const std::int64_t begun_ns = base::now_ns();
  for (std::uint32_t i = 0; i < calls; ++i) {
    ASSERT_EQ(stops_.find(*from, calls - 1 - i), running.back());
    running.pop_back();
  }
  EXPECT_EQ(stops_.running(), 0U);
  EXPECT_LT(base::now_ns() - begun_ns, 10'000'000'000);
}

}  // namespace
