// What runs when a result is there: chains of any length, in bounded stack, on threads that receive for others too.
#include <atomic>
#include <vector>

#include "base/thread.hpp"
#include "bulk.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace continuations_test {

std::atomic<bool> open{false};
int echo(int value) { return value; }
int gated(int value) {
  if (!eventually([] { return open.load(); })) throw error("nobody opened the gate");
  return value;
}
int gated_failure() {
  gated(0);
  throw std::out_of_range("gate");
}

/// Runs `what` with little stack.
template <class What>
void with_small_stack(What what) {
  base::sized_thread thread(what, std::size_t{256} << 10);
  thread.join();
}

class continuations : public two_targets {
 protected:
  continuations() { open = false; }
};

constexpr int long_chain = unless_sanitized(100'000, 30'000);

TEST_F(continuations, a_long_chain_of_then_takes_no_stack) {
  with_small_stack([] {
    auto last = offload::async(1, fn<&gated>, 0);
    for (int i = 0; i < long_chain; ++i) last = std::move(last).then([](int value) { return value + 1; });
    open = true;
    EXPECT_EQ(last.get(), long_chain);
  });
}

TEST_F(continuations, a_long_chain_passes_an_error_on_in_no_stack) {
  with_small_stack([] {
    auto last = offload::async(1, fn<&gated_failure>);
    for (int i = 0; i < long_chain; ++i) last = std::move(last).then([](int value) { return value + 1; });
    open = true;
    EXPECT_THROW(last.get(), std::out_of_range);
  });
}

TEST_F(continuations, a_long_chain_that_nobody_waits_for) {
  static std::atomic<int> ran{0};
  ran = 0;
  with_small_stack([] {
    auto last = offload::async(1, fn<&gated>, 0);
    for (int i = 0; i < long_chain; ++i) last = std::move(last).then([](int value) { return ++ran, value + 1; });
    last.detach();
    open = true;
    EXPECT_TRUE(eventually([] { return static_cast<void>(offload::sync(1, fn<&echo>, 0)), ran.load() == long_chain; }));
  });
}

offload::task<int> one_more(offload::task<int> before) { co_return 1 + co_await std::move(before); }
offload::task<int> first_of_all() { co_return co_await offload::async(1, fn<&gated>, 0); }

TEST_F(continuations, a_long_chain_of_coroutines_takes_no_stack) {
  with_small_stack([] {
    auto last = first_of_all();
    for (int i = 0; i < long_chain; ++i) last = one_more(std::move(last));
    open = true;
    EXPECT_EQ(last.get(), long_chain);
  });
}

offload::task<int> count_down(int calls) {
  int sum = 0;
  for (int i = 0; i < calls; ++i) sum += co_await offload::async(1, fn<&echo>, 1);
  co_return sum;
}

TEST_F(continuations, coroutines_that_wait_often_take_no_stack) {
  with_small_stack([] {
    std::vector<offload::task<int>> all;
    for (int i = 0; i < 500; ++i) all.push_back(count_down(50));
    for (auto& one : all) EXPECT_EQ(one.get(), 50);
  });
}

std::atomic<int> steps{0};
void step(int left) {
  ++steps;
  if (left > 0) offload::make_ready_future<int>(left - 1).then([](int rest) { step(rest); }).detach();
}

TEST_F(continuations, that_continue_something_settled_take_no_stack) {
  steps = 0;
  with_small_stack([] { offload::async(1, fn<&echo>, long_chain).then([](int left) { step(left); }).get(); });
  EXPECT_EQ(steps.load(), long_chain + 1);
}

TEST(continuations_at_the_end, a_long_chain_settles_when_the_runtime_ends) {
  with_small_stack([] {
    offload::future<int> last;
    {
      runtime job(loopback(1));
      last = offload::async(0, fn<&echo>, 0);  // to this very node, which does nothing before its end
      for (int i = 0; i < long_chain; ++i) last = std::move(last).then([](int value) { return value + 1; });
    }
    EXPECT_THROW(last.get(), node_failure);
  });
}

TEST_F(continuations, that_wait_nest_no_deeper_than_calls) {
  static int depth;
  static int deepest;
  depth = deepest = 0;
  constexpr int count = 3000;
  std::vector<offload::future<int>> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(offload::async(1, fn<&gated>, i).then([](int value) {
      deepest = std::max(deepest, ++depth);
      const int result = offload::sync(2, fn<&echo>, value);
      --depth;
      return result;
    }));
  }
  open = true;
  for (int i = 0; i < count; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)].get(), i);
  EXPECT_LE(deepest, 512 + 64) << "on a slow machine some begin on the levels that are kept for them";
  EXPECT_GT(deepest, 1) << "they were meant to nest";
}

TEST_F(continuations, one_that_waits_lets_the_next_ones_run) {
  auto first = offload::async(1, fn<&gated>, 1);
  auto second = offload::async(1, fn<&gated>, 2);
  static offload::future<int> of_second;
  of_second = {};
  auto outcome = std::move(first).then([](int value) { return value + of_second.get(); });
  of_second = std::move(second).then([](int value) { return value; });
  open = true;
  EXPECT_EQ(outcome.get(), 3) << "the first to go on needs what the second one makes";
}

// The thread that receives while the node's own one computes runs continuations, and in them what they wait for.
std::atomic<bool> continued{false};
bool compute_until_continued() {
  return eventually([] { return continued.load(); }, 10s);
}
int call_oneself_later() {
  const node_t self = offload::this_node();
  offload::async(2, fn<&gated>, 1)
      .then([self](int value) { continued = offload::sync(self, fn<&echo>, value) == 1; })
      .detach();
  return 0;
}

TEST_F(continuations, run_for_futures_that_were_detached) {
  std::atomic<int> run{0};
  auto value = offload::async(1, fn<&gated>, 1);
  auto error = offload::async(2, fn<&gated_failure>);
  value.on_ready([&] { ++run; });
  error.on_ready([&] { ++run; });
  static_cast<void>(error.wait_for(0s));
  value.detach();
  const auto before = on_unobserved_error([](const unobserved_error&) {});
  error.detach();
  open = true;
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(offload::progress());
    return run == 2;
  }));
  on_unobserved_error(before);
}

TEST_F(continuations, call_their_own_node_while_it_computes) {
  continued = false;
  offload::context queue(1);
  offload::sync(queue, fn<&call_oneself_later>);
  auto computing = offload::async(1, fn<&compute_until_continued>);
  std::this_thread::sleep_for(20ms);  // the node's own thread is in there now, and another one receives
  open = true;
  EXPECT_TRUE(computing.get());
}

}  // namespace continuations_test
