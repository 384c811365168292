// Stopping calls through the public verbs, over loopback: queues, functions that ask, nested calls, tokens.
#include "ham/offload/stop.hpp"

#include <atomic>
#include <thread>

#include "ham/offload/retry.hpp"
#include "loopback_job.hpp"

namespace {

using namespace ham;
using namespace ham::test;
using offload::when_stopped;

std::atomic<bool> gate{false};
std::atomic<int> begun{0};
std::atomic<int> ran{0};
std::atomic<int> seen{0};

void reset() {
  gate = false;
  begun = ran = seen = 0;
}

/// Occupies its node until the gate opens, and asks nobody.
void block() {
  ++begun;
  while (!gate) std::this_thread::yield();
}
int count() { return ++ran; }
bool has_begun(int calls) {
  return eventually([calls] { return begun >= calls; });
}

/// Runs until it is stopped, or for a long time.
int until_stopped() {
  const auto stop = this_call::stop_token();
  ++begun;
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (std::chrono::steady_clock::now() < until) {
    if (stop.stop_requested()) {
      ++seen;
      return 7;
    }
  }
  return -1;
}
int until_stopped_and_gate() {
  const int result = until_stopped();
  while (!gate) std::this_thread::yield();
  return result;
}
void throws_when_stopped() {
  if (until_stopped() == 7) throw operation_cancelled("as you wish", call_outcome::may_have_run);
}
int through(node_t node) { return offload::sync(node, fn<&until_stopped>); }
int through_in_vain(node_t node) {
  try {
    return offload::sync(node, fn<&until_stopped>);
  } catch (const operation_cancelled& why) {
    ++seen;
    try {
      offload::sync(node, fn<&count>);
      return -2;
    } catch (const operation_cancelled& again) {
      if (again.outcome() != call_outcome::not_run) return -3;
    }
    const this_call::shield cleanup;
    return offload::sync(node, fn<&count>);
  }
}
bool can_stop() { return this_call::stop_token().stop_possible(); }
bool can_stop_over_there(node_t node) { return offload::sync(node, fn<&can_stop>); }
std::int64_t time_left() {
  const auto until = this_call::deadline();
  if (until == std::chrono::steady_clock::time_point::max()) return -1;
  return std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
}
std::int64_t time_left_there(node_t node) { return offload::sync(node, fn<&time_left>); }
std::int64_t less_time_there(node_t node) { return offload::sync(offload::within(node, 20s), fn<&time_left>); }

template <class Result>
std::optional<call_outcome> outcome(offload::future<Result>& of) {
  try {
    of.get();
  } catch (const operation_cancelled& why) {
    return why.outcome();
  } catch (const deadline_exceeded& why) {
    return why.outcome();
  }
  return std::nullopt;
}

class stop : public two_targets {
 protected:
  stop() { reset(); }
  ~stop() override { gate = true; }
};

TEST_F(stop, outside_of_a_call_that_can_be_stopped_nothing_tells) {
  EXPECT_FALSE(this_call::stop_token().stop_possible());
  EXPECT_EQ(this_call::deadline(), std::chrono::steady_clock::time_point::max());
  EXPECT_FALSE(offload::sync(1, fn<&can_stop>));
  EXPECT_EQ(offload::sync(1, fn<&time_left>), -1);
  EXPECT_TRUE(offload::sync(offload::stoppable(1), fn<&can_stop>));
  EXPECT_EQ(offload::sync(offload::stoppable(1), fn<&time_left>), -1);
}

TEST_F(stop, a_function_that_asks_ends_and_its_value_arrives) {
  auto result = offload::async(offload::stoppable(1), fn<&until_stopped>);
  ASSERT_TRUE(has_begun(1));
  EXPECT_TRUE(result.request_stop());
  EXPECT_EQ(result.get(), 7);
}

TEST_F(stop, a_function_may_answer_with_the_exception) {
  auto result = offload::async(offload::stoppable(1), fn<&throws_when_stopped>);
  ASSERT_TRUE(has_begun(1));
  EXPECT_TRUE(result.request_stop());
  EXPECT_EQ(outcome(result), call_outcome::may_have_run);
}

TEST_F(stop, at_once_does_not_wait_for_the_function) {
  auto result = offload::async(offload::stoppable(1), fn<&block>);
  ASSERT_TRUE(has_begun(1));
  EXPECT_TRUE(result.request_stop(when_stopped::at_once));
  EXPECT_TRUE(result.test());
  EXPECT_FALSE(result.request_stop()) << "it has settled";
  EXPECT_EQ(outcome(result), call_outcome::may_have_run);
  gate = true;
  EXPECT_EQ(offload::sync(1, fn<&count>), 1) << "the late answer is taken for nobody's";
}

TEST_F(stop, calls_that_wait_on_their_node_never_run) {
  auto blocked = offload::async(1, fn<&block>);
  ASSERT_TRUE(has_begun(1));
  std::vector<offload::future<int>> waiting;
  for (int i = 0; i < 200; ++i) waiting.push_back(offload::async(offload::stoppable(1), fn<&count>));
  auto last = offload::async(1, fn<&count>);
  for (auto& one : waiting) EXPECT_TRUE(one.request_stop());
  gate = true;
  for (auto& one : waiting) EXPECT_EQ(outcome(one), call_outcome::not_run);
  EXPECT_EQ(last.get(), 1);
}

/// Its node is told, and reads that behind the call.
TEST_F(stop, a_call_that_nothing_can_stop_runs_behind_another_one_although_its_node_is_told) {
  auto busy = offload::async(1, fn<&block>);
  ASSERT_TRUE(has_begun(1));
  auto waits = offload::async(1, fn<&count>);
  auto given_up = offload::async(1, fn<&count>);
  EXPECT_TRUE(waits.request_stop());
  EXPECT_TRUE(given_up.request_stop(when_stopped::at_once));
  EXPECT_EQ(outcome(given_up), call_outcome::may_have_run);
  gate = true;
  EXPECT_EQ(waits.get(), 1);
  busy.get();
  EXPECT_EQ(offload::sync(1, fn<&count>), 3);
}

TEST_F(stop, calls_that_wait_in_a_context_never_run) {
  const offload::context queue(1);
  auto blocked = offload::async(queue, fn<&block>);
  ASSERT_TRUE(has_begun(1));
  auto plain = offload::async(queue, fn<&count>);
  auto other = offload::async(offload::stoppable(queue), fn<&count>);
  EXPECT_TRUE(plain.request_stop());
  EXPECT_TRUE(other.request_stop());
  EXPECT_EQ(outcome(plain), call_outcome::not_run) << "while the context is busy";
  EXPECT_EQ(outcome(other), call_outcome::not_run);
  gate = true;
  blocked.get();
  EXPECT_EQ(ran, 0);
}

TEST_F(stop, a_call_in_a_context_sees_its_stop) {
  const offload::context queue(1);
  auto result = offload::async(offload::stoppable(queue), fn<&until_stopped>);
  ASSERT_TRUE(has_begun(1));
  EXPECT_TRUE(result.request_stop());
  EXPECT_EQ(result.get(), 7);
}

TEST_F(stop, a_pooled_call_sees_its_stop) {
  auto result = offload::async(offload::stoppable(1), pooled(fn<&until_stopped>));
  ASSERT_TRUE(has_begun(1));
  EXPECT_TRUE(result.request_stop());
  EXPECT_EQ(result.get(), 7);
}

TEST_F(stop, a_deadline_that_passes_stops_the_function) {
  std::optional<call_outcome> of_call = call_outcome::not_run;
  for (int i = 0; i < 20 && of_call == call_outcome::not_run; ++i) {  // on a busy machine it may not begin in time
    auto result = offload::async(offload::within(1, 1s), fn<&until_stopped_and_gate>);
    of_call = outcome(result);
  }
  EXPECT_EQ(of_call, call_outcome::may_have_run);
  EXPECT_TRUE(eventually([] { return seen == 1; }));
  gate = true;
}

TEST_F(stop, a_stop_that_meets_the_begin_of_a_call_in_a_context_is_not_lost) {
  const offload::context queue(1);
  for (int i = 0; i < 500; ++i) {
    auto one = offload::async(offload::stoppable(queue), fn<&until_stopped>);
    for (int spin = 0; spin < i * 40; ++spin) asm volatile("");
    EXPECT_TRUE(one.request_stop());
    try {
      ASSERT_GT(one.get(), 0) << i;
    } catch (const operation_cancelled& why) {
      EXPECT_EQ(why.outcome(), call_outcome::not_run);
    }
  }
}

TEST_F(stop, the_remaining_time_travels) {
  const auto left = offload::sync(offload::within(1, 60s), fn<&time_left>);
  EXPECT_GT(left, 30'000);
  EXPECT_LE(left, 60'000);
  const auto nested = offload::sync(offload::within(1, 60s), fn<&time_left_there>, node_t{2});
  EXPECT_GT(nested, 30'000);
  EXPECT_LE(nested, 60'000);
  EXPECT_LE(offload::sync(offload::within(1, 60s), fn<&less_time_there>, node_t{2}), 20'000)
      << "the earlier one counts";
  EXPECT_EQ(offload::sync(1, fn<&time_left_there>, node_t{2}), -1);
}

TEST_F(stop, that_a_call_can_be_stopped_travels) {
  EXPECT_TRUE(offload::sync(offload::stoppable(1), fn<&can_stop_over_there>, node_t{2}));
  EXPECT_FALSE(offload::sync(1, fn<&can_stop_over_there>, node_t{2}));
}

TEST_F(stop, a_stop_reaches_the_call_that_the_function_waits_for) {
  auto result = offload::async(offload::stoppable(1), fn<&through>, node_t{2});
  ASSERT_TRUE(has_begun(1));
  EXPECT_TRUE(result.request_stop());
  EXPECT_EQ(outcome(result), call_outcome::may_have_run) << "its wait ends at once";
  EXPECT_TRUE(eventually([] { return seen == 1; })) << "and the function that it has called sees it";
}

TEST_F(stop, calls_behind_a_stop_fail_but_for_those_under_a_shield) {
  auto result = offload::async(offload::stoppable(1), fn<&through_in_vain>, node_t{2});
  ASSERT_TRUE(has_begun(1));
  EXPECT_TRUE(result.request_stop());
  EXPECT_EQ(result.get(), 1);
}

// ---- stop tokens

TEST_F(stop, a_token_stops_its_calls) {
  std::stop_source source;
  auto first = offload::async(offload::stoppable(1, source.get_token()), fn<&until_stopped>);
  auto second = offload::async(offload::within(2, 60s, source.get_token()), fn<&until_stopped>);
  ASSERT_TRUE(has_begun(2));
  source.request_stop();
  EXPECT_EQ(first.get(), 7);
  EXPECT_EQ(second.get(), 7);
}

TEST_F(stop, a_token_that_is_stopped_sends_nothing) {
  std::stop_source source;
  source.request_stop();
  auto call = offload::async(offload::stoppable(1, source.get_token()), fn<&count>);
  EXPECT_EQ(outcome(call), call_outcome::not_run);
  auto tried = offload::try_async(offload::within(1, 1s, source.get_token()), fn<&count>);
  ASSERT_TRUE(tried.has_value());
  EXPECT_EQ(outcome(*tried), call_outcome::not_run);
  EXPECT_THROW(offload::sync(offload::stoppable(1, source.get_token()), fn<&count>), operation_cancelled);
  EXPECT_EQ(ran, 0);
}

TEST_F(stop, a_token_may_be_stopped_by_another_thread_at_any_time) {
  for (int round = 0; round < 200; ++round) {
    std::stop_source source;
    std::jthread other([&source] { source.request_stop(); });
    auto call = offload::async(offload::stoppable(1, source.get_token(), when_stopped::at_once), fn<&until_stopped>);
    const auto how = outcome(call);
    EXPECT_TRUE(how.has_value());
  }
  EXPECT_EQ(offload::sync(1, fn<&count>), 1);
}

TEST_F(stop, a_token_outlives_its_call_and_its_future) {
  std::stop_source source;
  EXPECT_EQ(offload::sync(offload::stoppable(1, source.get_token()), fn<&count>), 1);
  offload::async(offload::stoppable(1, source.get_token()), fn<&until_stopped>).detach();
  ASSERT_TRUE(has_begun(1));
  source.request_stop();
  EXPECT_TRUE(eventually([] {
    offload::progress();
    return seen == 1;
  }));
}

// ---- what is owned

struct holder {
  explicit holder(int number) : value(number) {}
  int get() const { return value; }
  int value;
};

TEST_F(stop, what_is_owned_is_made_unless_the_token_is_stopped) {
  std::stop_source source;
  const auto where = offload::stoppable(1, source.get_token());
  const offload::buffer<int> memory(where, 10);
  EXPECT_EQ(memory.size(), 10U);
  const offload::context queue(where);
  EXPECT_EQ(offload::sync(queue, fn<&count>), 1);
  const auto object = offload::make<holder>(offload::within(1, 60s, source.get_token()), 3);
  EXPECT_EQ(object.call<&holder::get>(), 3);
  auto later = offload::make_async<holder>(where, 4).get();
  EXPECT_EQ(later.call<&holder::get>(), 4);
  source.request_stop();
  constexpr auto refused = [](auto make) {
    try {
      make();
    } catch (const operation_cancelled& why) {
      return why.outcome() == call_outcome::not_run;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { static_cast<void>(offload::allocate<int>(where, 1)); }));
  EXPECT_TRUE(
      refused([&] { static_cast<void>(offload::allocate<int>(offload::stoppable(0, source.get_token()), 1)); }));
  EXPECT_TRUE(refused([&] { const offload::buffer<int> none(where, 1); }));
  EXPECT_TRUE(refused([&] { const offload::context none(where, std::size_t{1} << 20); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(offload::make<holder>(where, 1)); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(offload::make_async<holder>(where, 1).get()); }));
}

TEST_F(stop, a_request_for_memory_that_waits_is_taken_back) {
  auto busy = offload::async(1, fn<&block>);
  ASSERT_TRUE(has_begun(1));
  std::stop_source source;
  std::thread stops([&] {
    std::this_thread::sleep_for(20ms);
    source.request_stop();
    gate = true;
  });
  try {
    static_cast<void>(offload::allocate<int>(offload::stoppable(1, source.get_token()), 1));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const operation_cancelled& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run);
  }
  stops.join();
  busy.get();
}

// ---- calls that may be repeated

TEST_F(stop, an_attempt_of_a_repeated_call_is_told) {
  auto call = offload::async(offload::retry(offload::stoppable(1), 2), idempotent(fn<&until_stopped>));
  ASSERT_TRUE(has_begun(1));
  EXPECT_TRUE(call.request_stop());
  EXPECT_EQ(call.get(), 7);
  EXPECT_FALSE(call.request_stop());
}

TEST_F(stop, a_token_stops_a_repeated_call) {
  std::stop_source source;
  const auto where = offload::retry(offload::within(1, 60s, source.get_token()), 2);
  auto call = offload::async(where, idempotent(fn<&until_stopped>));
  ASSERT_TRUE(has_begun(1));
  source.request_stop();
  EXPECT_EQ(call.get(), 7);
  EXPECT_THROW(static_cast<void>(offload::sync(where, idempotent(fn<&count>))), operation_cancelled);
  EXPECT_EQ(ran, 0);
}

// ---- what cannot be stopped

TEST_F(stop, only_pending_calls_can_be_asked) {
  auto done = offload::async(1, fn<&count>);
  done.wait();
  EXPECT_FALSE(done.request_stop());
  EXPECT_EQ(done.get(), 1);
  EXPECT_FALSE(done.request_stop()) << "not valid";
  auto chained = offload::async(1, fn<&count>).then([](int n) { return n; });
  EXPECT_FALSE(chained.request_stop());
  EXPECT_EQ(chained.get(), 2);
}

TEST_F(stop, what_is_no_single_call_cannot_be_killed_and_says_so) {
  auto call = offload::async(1, fn<&block>).then([] { return 1; });
  ASSERT_TRUE(has_begun(1));
  const std::string why = message_of<call_error>([&] { offload::kill_call(call); });
  EXPECT_NE(why.find("no single call"), std::string::npos) << why;
  gate = true;
  EXPECT_EQ(call.get(), 1);
}

TEST_F(stop, the_present_attempt_of_a_repeated_call_is_what_is_killed) {
  auto call = offload::async(offload::retry(1, 2), idempotent(fn<&block>));
  ASSERT_TRUE(has_begun(1));
  const std::string why = message_of<call_error>([&] { offload::kill_call(call); });
  EXPECT_NE(why.find("process of node 1 cannot be ended"), std::string::npos) << why;
  gate = true;
  call.get();
  auto done = offload::async(offload::retry(1, 2), idempotent(fn<&count>));
  done.wait();
  EXPECT_FALSE(offload::kill_call(done));
}

TEST_F(stop, a_target_that_is_a_thread_cannot_be_killed) {
  auto call = offload::async(1, fn<&block>);
  ASSERT_TRUE(has_begun(1));
  EXPECT_THROW(offload::kill_call(call), call_error);
  gate = true;
  call.get();
  auto done = offload::async(1, fn<&count>);
  done.wait();
  EXPECT_FALSE(offload::kill_call(done));
}

}  // namespace
