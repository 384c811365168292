// Futures of futures, errors in continuations, several futures as one, futures read by several.
#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "ham/offload/std_future.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace future_algebra_test {

std::atomic<bool> gate{false};
int echo(int value) { return value; }
int held(int value) {
  while (!gate.load()) std::this_thread::sleep_for(50us);
  return value;
}
int fail(const std::string& why) { throw std::runtime_error(why); }

class future_algebra : public two_targets {
 protected:
  future_algebra() { gate = false; }
  ~future_algebra() override { gate = true; }
};

// ---- errors without a throw

TEST_F(future_algebra, errors_are_seen_without_a_throw) {
  auto good = offload::async(1, fn<&echo>, 5);
  EXPECT_TRUE(good.has_value());
  EXPECT_EQ(good.error(), nullptr);
  EXPECT_EQ(good.get(), 5);
  auto bad = offload::async(1, fn<&fail>, std::string("why"));
  EXPECT_FALSE(bad.has_value());
  EXPECT_EQ(describe_error(bad.error()).message, "why");
  EXPECT_TRUE(bad.valid());
  EXPECT_THROW((void)bad.get(), std::runtime_error);
  const offload::future<int> none;
  EXPECT_FALSE(none.has_value());
  EXPECT_NE(describe_error(none.error()).message.find("no result"), std::string::npos);
}

// ---- then

TEST_F(future_algebra, a_future_of_a_future_is_one) {
  offload::future<int> sum = offload::async(1, fn<&echo>, 1)
                                 .then([](int value) { return offload::async(2, fn<&echo>, value + 1); })
                                 .then([](int value) { return offload::async(1, fn<&echo>, value + 1); });
  EXPECT_EQ(sum.get(), 3);
  offload::future<void> nothing = offload::async(1, [] {}).then([] { return offload::async(2, [] {}); });
  nothing.get();
}

TEST_F(future_algebra, errors_of_either_go_through) {
  auto inner =
      offload::async(1, fn<&echo>, 1).then([](int) { return offload::async(2, fn<&fail>, std::string("inner")); });
  EXPECT_EQ(message_of<std::runtime_error>([&] { (void)inner.get(); }), "inner");
  auto outer =
      offload::async(1, fn<&fail>, std::string("outer")).then([](int) { return offload::async(2, fn<&echo>, 1); });
  EXPECT_EQ(message_of<std::runtime_error>([&] { (void)outer.get(); }), "outer");
  auto thrown = offload::async(1, fn<&echo>, 1).then([](int) -> offload::future<int> { throw std::logic_error("f"); });
  EXPECT_THROW((void)thrown.get(), std::logic_error);
  auto invalid = offload::async(1, fn<&echo>, 1).then([](int) { return offload::future<int>(); });
  EXPECT_THROW((void)invalid.get(), error);
}

TEST_F(future_algebra, a_future_that_is_followed_into_a_batch) {
  offload::batch calls(2);
  auto both = offload::async(1, fn<&echo>, 1).then([&](int value) { return calls.add(fn<&echo>, value + 1); });
  EXPECT_EQ(both.get(), 2);
}

TEST_F(future_algebra, then_result_sees_values_and_errors) {
  const auto either = [](offload::future<int> settled) {
    return settled.has_value() ? std::to_string(settled.get()) : describe_error(settled.error()).message;
  };
  EXPECT_EQ(offload::async(1, fn<&echo>, 7).then_result(either).get(), "7");
  EXPECT_EQ(offload::async(1, fn<&fail>, std::string("seen")).then_result(either).get(), "seen");
  auto retried = offload::async(1, fn<&fail>, std::string("once")).then_result([](offload::future<int> settled) {
    return settled.has_value() ? std::move(settled) : offload::async(2, fn<&echo>, 9);
  });
  EXPECT_EQ(retried.get(), 9);
}

TEST_F(future_algebra, a_callback_gets_the_settled_future) {
  std::atomic<int> got{0};
  offload::async(1, fn<&echo>, 4).on_result([&](offload::future<int> settled) { got = settled.get(); });
  EXPECT_TRUE(eventually([&] {
    offload::sync(1, fn<&echo>, 0);
    return got == 4;
  }));
}

// ---- several

TEST_F(future_algebra, when_any_owns_its_futures) {
  std::vector<offload::future<int>> parts;
  parts.push_back(offload::async(1, fn<&held>, 1));
  parts.push_back(offload::async(2, fn<&echo>, 2));
  auto [index, futures] = offload::when_any(std::move(parts)).get();
  EXPECT_EQ(index, 1U);
  ASSERT_EQ(futures.size(), 2U);
  EXPECT_EQ(futures[1].get(), 2);
  EXPECT_FALSE(futures[0].test());
  gate = true;
  EXPECT_EQ(futures[0].get(), 1);
}

TEST_F(future_algebra, when_any_of_settled_ones_and_of_none) {
  std::vector<offload::future<int>> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(offload::make_ready_future<int>(i));
  EXPECT_EQ(offload::when_any(std::move(parts)).get().index, 0U);
  EXPECT_THROW((void)offload::when_any(std::vector<offload::future<int>>()), error);
  std::vector<offload::future<int>> invalid(2);
  EXPECT_THROW((void)offload::when_any(std::move(invalid)), error);
}

TEST_F(future_algebra, when_any_in_rounds_takes_each_once) {
  std::vector<offload::future<int>> left;
  for (int i = 0; i < 50; ++i) left.push_back(offload::async(1 + i % 2, fn<&echo>, i));
  std::vector<int> seen;
  while (!left.empty()) {
    auto [index, futures] = offload::when_any(std::move(left)).get();
    seen.push_back(futures[index].get());
    futures.erase(futures.begin() + static_cast<std::ptrdiff_t>(index));
    left = std::move(futures);
  }
  std::sort(seen.begin(), seen.end());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST_F(future_algebra, when_all_of_tuples_and_ranges) {
  std::tuple<offload::future<int>, offload::future<void>> two(offload::async(1, fn<&echo>, 1),
                                                              offload::async(2, [] {}));
  auto [number, nothing] = offload::when_all(std::move(two)).get();
  EXPECT_EQ(number.get(), 1);
  nothing.get();
  std::list<offload::future<int>> list;
  for (int i = 0; i < 5; ++i) list.push_back(offload::async(1, fn<&echo>, i));
  auto all = offload::when_all(std::move(list)).get();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[4].get(), 4);
  std::array<offload::future<int>, 2> pair{offload::async(1, fn<&echo>, 8), offload::async(2, fn<&echo>, 9)};
  EXPECT_EQ(offload::when_all(std::move(pair)).get()[1].get(), 9);
}

// ---- shared

TEST_F(future_algebra, shared_futures_are_read_again_and_again) {
  auto text = offload::async(1, [] { return std::string("shared"); }).share();
  const auto copy = text;
  EXPECT_EQ(text.get(), "shared");
  EXPECT_EQ(&text.get(), &copy.get());
  EXPECT_TRUE(copy.has_value());
  EXPECT_EQ(copy.then([](const std::string& value) { return value.size(); }).get(), 6U);
  EXPECT_EQ(
      copy.then([](const std::string& value) { return offload::async(2, fn<&echo>, static_cast<int>(value.size())); })
          .get(),
      6);
  offload::shared_future<void> nothing = offload::async(1, [] {});
  nothing.get();
  nothing.get();
  EXPECT_THROW((void)offload::shared_future<int>().get(), error);
}

TEST_F(future_algebra, shared_errors_are_thrown_each_time) {
  auto bad = offload::async(1, fn<&fail>, std::string("again")).share();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(message_of<std::runtime_error>([&] { (void)bad.get(); }), "again");
  EXPECT_THROW((void)bad.then([](const int&) {}).get(), std::runtime_error);
  EXPECT_NE(bad.error(), nullptr);
}

TEST_F(future_algebra, threads_wait_for_one_shared_future) {
  const auto value = offload::async(1, fn<&held>, 3).share();
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([value, &sum] { sum += value.get(); });
  std::this_thread::sleep_for(5ms);
  gate = true;
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(sum.load(), 12);
}

TEST_F(future_algebra, a_shared_future_of_a_batch_submits_it) {
  offload::batch calls(1);
  const auto value = calls.add(fn<&echo>, 3).share();
  EXPECT_EQ(calls.size(), 0U);
  std::thread([value] { EXPECT_EQ(value.get(), 3); }).join();
}

offload::task<int> twice(offload::shared_future<int> value) { co_return co_await value + co_await value; }
TEST_F(future_algebra, coroutines_await_shared_futures) {
  EXPECT_EQ(twice(offload::async(1, fn<&echo>, 4).share()).get(), 8);
}

// ---- std::future

TEST_F(future_algebra, std_futures_get_values_and_errors) {
  auto value = offload::to_std_future(offload::async(1, fn<&echo>, 2));
  auto nothing = offload::to_std_future(offload::async(1, [] {}));
  auto bad = offload::to_std_future(offload::async(1, fn<&fail>, std::string("std")));
  EXPECT_TRUE(eventually([&] {
    offload::progress();
    return bad.wait_for(0s) == std::future_status::ready;
  }));
  EXPECT_EQ(value.get(), 2);
  nothing.get();
  EXPECT_EQ(message_of<std::runtime_error>([&] { (void)bad.get(); }), "std");
}

}  // namespace future_algebra_test
