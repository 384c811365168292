// Contexts: ordered queues with a thread of their own.
#include <atomic>
#include <numeric>
#include <optional>
#include <set>

#include "bulk.hpp"
#include "offload/gate.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace context_test {

int echo(int value) { return value; }
std::atomic<int> ran{0};
void slow_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  ++ran;
}
std::size_t thread_number() { return std::hash<std::thread::id>()(std::this_thread::get_id()); }

class context_calls : public two_targets {};

TEST_F(context_calls, run_in_order_on_one_thread) {
  static std::vector<int> order;
  order.clear();
  offload::context queue(1);
  std::vector<offload::future<std::size_t>> all;
  for (int i = 0; i < 2000; ++i) {
    all.push_back(offload::async(
        queue,
        [](int number) {
          order.push_back(number);
          return thread_number();
        },
        i));
  }
  std::set<std::size_t> threads;
  for (auto& one : all) threads.insert(one.get());
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_NE(*threads.begin(), offload::sync(1, fn<&thread_number>)) << "not the main queue's";
  std::vector<int> expected(2000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(context_calls, run_beside_each_other_and_beside_the_main_queue) {
  static std::atomic<int> inside{0};
  inside = 0;
  const auto meet = [](int others) {
    ++inside;
    return eventually([others] { return inside.load() >= others; });
  };
  offload::context first(1), second(1), third(2);
  EXPECT_NE(first.id(), second.id());
  auto one = offload::async(first, meet, 4);
  auto two = offload::async(second, meet, 4);
  auto three = offload::async(third, meet, 4);
  auto main = offload::async(1, meet, 4);
  EXPECT_TRUE(one.get() && two.get() && three.get() && main.get()) << "all four were inside at once";
}

TEST_F(context_calls, are_calls_like_others) {
  offload::context queue(2);
  EXPECT_EQ(queue.node(), 2);
  EXPECT_TRUE(queue.valid());
  EXPECT_EQ(offload::sync(queue, [] { return offload::this_node(); }), 2);
  EXPECT_THROW(offload::sync(queue, [] { throw std::range_error("r"); }), std::range_error);
  EXPECT_EQ(offload::sync(queue, [] { return offload::sync(0, fn<&echo>, 4); }), 4) << "it may call back";
  EXPECT_EQ(offload::sync(queue, [] { return offload::sync(1, fn<&echo>, 5); }), 5);
  EXPECT_EQ(offload::sync(queue, [] { return offload::sync(2, fn<&echo>, 6); }), 6) << "and its own node";
  const std::vector<int> big(500000, 1);
  EXPECT_EQ(offload::sync(
                queue, [](const std::vector<int>& what) { return what; }, big),
            big);
  closed_gate gate;
  EXPECT_THROW(offload::sync(offload::within(queue, 10ms), fn<&hold>), deadline_exceeded);
  gate.open();
  offload::ping(queue, fn<&slow_ms>, 0);
  EXPECT_TRUE(offload::try_async(queue, fn<&echo>, 1).has_value());
}

TEST_F(context_calls, drain_waits_for_all) {
  ran = 0;
  offload::context queue(1);
  for (int i = 0; i < 20; ++i) offload::async(queue, fn<&slow_ms>, 1).detach();
  queue.drain();
  EXPECT_EQ(ran.load(), 20);
}

TEST_F(context_calls, closing_lets_queued_calls_finish) {
  ran = 0;
  std::vector<offload::future<void>> all;
  {
    offload::context queue(1);
    for (int i = 0; i < 20; ++i) all.push_back(offload::async(queue, fn<&slow_ms>, 1));
  }
  EXPECT_EQ(ran.load(), 20);
  for (auto& one : all) one.get();
}

TEST_F(context_calls, a_closed_one_refuses) {
  offload::context queue(1);
  const offload::destination before = queue;
  queue.close();
  queue.close();
  EXPECT_FALSE(queue.valid());
  EXPECT_THROW(offload::sync(queue, fn<&echo>, 1), call_error);  // and does not run on the main queue
  EXPECT_THROW(queue.drain(), call_error);
  const std::string text = message_of<call_error>([&] { (void)offload::sync(before, fn<&echo>, 1); });
  EXPECT_NE(text.find("context"), std::string::npos) << text;
  offload::batch calls(before);
  auto one = calls.add(fn<&echo>, 1);
  auto other = calls.add(fn<&echo>, 2);
  calls.submit();
  EXPECT_THROW((void)one.get(), call_error);
  EXPECT_THROW((void)other.get(), call_error);
  EXPECT_EQ(offload::sync(1, fn<&echo>, 1), 1);
  EXPECT_THROW(offload::sync(offload::destination(1, 12345), fn<&echo>, 1), call_error);
}

TEST_F(context_calls, moving) {
  offload::context queue(1);
  const auto id = queue.id();
  offload::context moved(std::move(queue));
  EXPECT_FALSE(queue.valid());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(moved.id(), id);
  moved = offload::context(2);
  EXPECT_EQ(offload::sync(moved, [] { return offload::this_node(); }), 2);
}

TEST_F(context_calls, many_come_and_go) {
  for (int round = 0; round < 5; ++round) {
    std::vector<offload::context> all;
    for (int i = 0; i < 20; ++i) all.emplace_back(1 + i % 2);
    std::vector<offload::future<int>> results;
    for (int i = 0; i < 200; ++i)
      results.push_back(offload::async(all[static_cast<std::size_t>(i % 20)], fn<&echo>, i));
    for (int i = 0; i < 200; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), i);
  }
}

TEST_F(context_calls, opened_by_a_target_and_for_oneself) {
  EXPECT_EQ(offload::sync(1,
                          [] {
                            offload::context queue(2);
                            return offload::sync(queue, fn<&echo>, 9);
                          }),
            9);
  offload::context own(0);
  EXPECT_EQ(offload::sync(own, fn<&echo>, 3), 3);
  EXPECT_NE(offload::sync(own, fn<&thread_number>), thread_number());
}

TEST_F(context_calls, big_results_leave_while_the_node_s_own_thread_sleeps) {
  offload::context queue(1);
  for (int i = 0; i < unless_sanitized(20, 6); ++i) {
    // The node's receiving thread has gone to sleep when the context's thread answers with more than a queue holds.
    const auto got = offload::sync(
        queue,
        [](int fill) {
          std::this_thread::sleep_for(5ms);
          return std::vector<int>(1 << 20, fill);
        },
        i);
    ASSERT_EQ(got, std::vector<int>(1 << 20, i));
  }
}

TEST_F(context_calls, a_message_to_the_own_node_wakes_its_sleeping_thread) {
  static std::atomic<int> arrived{0};
  arrived = 0;
  offload::context queue(1);
  for (int i = 1; i <= 20; ++i) {
    offload::sync(queue, [] {
      std::this_thread::sleep_for(5ms);
      offload::ping(1, [] { ++arrived; });
    });
    ASSERT_TRUE(eventually([i] { return arrived.load() == i; })) << i;
  }
}

TEST(context_end, a_job_may_end_with_open_contexts) {
  offload::context left_over = [] {
    runtime job(loopback(1));
    offload::context queue(1);
    offload::async(queue, fn<&slow_ms>, 30).detach();
    offload::async(queue, fn<&slow_ms>, 30).detach();
    return queue;
  }();
  EXPECT_TRUE(left_over.valid());
  runtime next(loopback(1));
  EXPECT_EQ(offload::sync(1, fn<&echo>, 1), 1);
}

/// What a call that waited in a context at the end of its node settles with.
template <class T>
[[nodiscard]] std::optional<call_outcome> failed_as(offload::future<T>& one) {
  try {
    one.get();
    return std::nullopt;
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), 0);
    EXPECT_NE(failure.function().find("slow_ms"), std::string::npos) << failure.what();
    return failure.outcome();
  }
}

TEST(context_end, calls_that_wait_in_the_own_node_s_contexts_have_not_run) {
  ran = 0;
  std::vector<offload::future<void>> waiting;
  std::vector<offload::future<void>> in_batch;
  std::optional<offload::context> left_over;
  {
    runtime job(loopback(1));
    offload::context& queue = left_over.emplace(0);
    offload::async(queue, fn<&slow_ms>, 200).detach();
    for (int i = 0; i < 10; ++i) waiting.push_back(offload::async(queue, fn<&slow_ms>, 1));
    offload::batch calls(queue);
    for (int i = 0; i < 10; ++i) in_batch.push_back(calls.add(fn<&slow_ms>, 1));
    calls.submit();
    offload::ping(queue, fn<&slow_ms>, 1);
    offload::sync(0, fn<&echo>, 1);  // they are in the context's queue now
  }
  EXPECT_LE(ran.load(), 1);
  for (auto& one : waiting) EXPECT_EQ(failed_as(one), call_outcome::not_run);
  for (auto& one : in_batch) EXPECT_EQ(failed_as(one), call_outcome::not_run);
}

TEST(context_end, callers_on_other_nodes_are_told_that_calls_have_not_run) {
  static std::atomic<bool> sent{false};
  static std::atomic<bool> let_go{false};
  static std::atomic<int> not_run{0};
  sent = let_go = false;
  not_run = ran = 0;
  {
    runtime job(loopback(1));
    offload::async(1, [] {
      offload::context queue(0);
      auto first = offload::async(queue, [] { (void)eventually([] { return let_go.load(); }); });
      std::vector<offload::future<void>> waiting;
      for (int i = 0; i < 5; ++i) waiting.push_back(offload::async(queue, fn<&slow_ms>, 0));
      offload::sync(0, fn<&echo>, 1);
      sent = true;
      for (auto& one : waiting) not_run += failed_as(one) == call_outcome::not_run ? 1 : 0;
      let_go = true;
      try {
        first.get();
        queue.close();
      } catch (const error&) {
      }
    }).detach();
    EXPECT_TRUE(eventually([] {
      offload::sync(0, fn<&echo>, 1);
      return sent.load();
    }));
  }
  EXPECT_EQ(not_run.load(), 5);
  EXPECT_EQ(ran.load(), 0);
}

TEST(pool_end, a_job_waits_for_its_pooled_calls) {
  ran = 0;
  {
    runtime job(loopback(2));
    for (int i = 0; i < 6; ++i) offload::async(1 + i % 2, pooled(fn<&slow_ms>), 50).detach();
    offload::sync(1, fn<&echo>, 1);
    offload::sync(2, fn<&echo>, 1);
  }
  EXPECT_EQ(ran.load(), 6) << "they would use a node that is gone";
}

}  // namespace context_test
