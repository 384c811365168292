// Batches: many calls as one message.
#include <sys/mman.h>

#include <atomic>

#include "bulk.hpp"
#include "offload/gate.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace batch_test {

int echo(int value) { return value; }
int odd_only(int value) {
  if (value % 2 == 0) throw std::invalid_argument("even: " + std::to_string(value));
  return value;
}
std::string repeat(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}
std::atomic<int> ran{0};
void count() { ++ran; }

class batches : public two_targets {};

TEST_F(batches, a_thousand_calls) {
  offload::batch calls(1);
  calls.reserve(1000);
  std::vector<offload::future<int>> results;
  for (int i = 0; i < 1000; ++i) results.push_back(calls.add(fn<&echo>, i));
  EXPECT_EQ(calls.size(), 1000U);
  calls.submit();
  EXPECT_EQ(calls.size(), 0U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), i);
}

TEST_F(batches, of_different_functions_and_sizes) {
  for (const int times : {0, 1, 100, 50000}) {
    offload::batch calls(1);
    auto number = calls.add(fn<&echo>, 7);
    auto text = calls.add(fn<&repeat>, std::string("abc"), times);
    auto nothing = calls.add([] {});
    auto bound = calls.add(f2f(&echo, 8));
    auto lambda = calls.add([times](int more) { return times + more; }, 1);
    calls.submit();
    EXPECT_EQ(number.get(), 7);
    EXPECT_EQ(text.get().size(), 3U * static_cast<std::size_t>(times));
    nothing.get();
    EXPECT_EQ(bound.get(), 8);
    EXPECT_EQ(lambda.get(), times + 1);
  }
}

TEST_F(batches, are_used_again) {
  offload::batch calls(1);
  for (int round = 0; round < 10; ++round) {
    auto one = calls.add(fn<&echo>, round);
    calls.submit();
    auto other = calls.add(fn<&echo>, -round);
    calls.submit();
    EXPECT_EQ(one.get(), round);
    EXPECT_EQ(other.get(), -round);
  }
  calls.submit();  // of nothing
}

TEST_F(batches, waiting_submits) {
  offload::batch calls(1);
  auto one = calls.add(fn<&echo>, 1);
  auto other = calls.add(fn<&echo>, 2);
  EXPECT_EQ(other.get(), 2);
  EXPECT_EQ(one.get(), 1);
  auto third = calls.add(fn<&echo>, 3);
  EXPECT_TRUE(eventually([&] { return third.test(); }));
  EXPECT_EQ(third.get(), 3);
}

TEST_F(batches, the_destructor_submits) {
  offload::future<int> one;
  {
    offload::batch calls(1);
    one = calls.add(fn<&echo>, 1);
  }
  EXPECT_EQ(one.get(), 1);
}

TEST_F(batches, futures_that_go_before_the_submit) {
  ran = 0;
  offload::batch calls(1);
  { auto discarded = calls.add(fn<&count>); }  // its destructor waits, so it submits
  EXPECT_EQ(ran.load(), 1);
  calls.add(fn<&count>).detach();
  auto chained = calls.add(fn<&echo>, 4).then([](int value) { return value + 1; });
  calls.submit();
  EXPECT_EQ(chained.get(), 5);
  EXPECT_EQ(ran.load(), 2);
}

TEST_F(batches, what_waits_for_its_futures_submits) {
  offload::batch calls(1);
  const auto two = [&] {
    std::vector<offload::future<int>> result;
    result.push_back(calls.add(fn<&echo>, 1));
    result.push_back(calls.add(fn<&echo>, 2));
    return result;
  };
  auto all = offload::when_all(two());
  ASSERT_TRUE(all.wait_for(60s));
  EXPECT_EQ(all.get()[1].get(), 2);
  auto some = two();
  ASSERT_TRUE(offload::when_any(some).wait_for(60s));
  auto next = calls.add(fn<&echo>, 3).then([](int value) { return value + 1; });
  ASSERT_TRUE(next.wait_for(60s));
  EXPECT_EQ(next.get(), 4);
}

TEST_F(batches, exceptions_stay_with_their_call) {
  offload::batch calls(1);
  std::vector<offload::future<int>> results;
  for (int i = 0; i < 100; ++i) results.push_back(calls.add(fn<&odd_only>, i));
  calls.submit();
  for (int i = 0; i < 100; ++i) {
    auto& one = results[static_cast<std::size_t>(i)];
    if (i % 2 == 1)
      EXPECT_EQ(one.get(), i);
    else
      EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)one.get(); }), "even: " + std::to_string(i));
  }
}

TEST_F(batches, with_pooled_calls_among_them) {
  for (int round = 0; round < 20; ++round) {
    offload::batch calls(1);
    std::vector<offload::future<int>> results;
    for (int i = 0; i < 200; ++i) {
      if (i % 3 == 0)
        results.push_back(calls.add(pooled(fn<&odd_only>), i));
      else
        results.push_back(calls.add(fn<&odd_only>, i));
    }
    calls.submit();
    for (int i = 0; i < 200; ++i) {
      auto& one = results[static_cast<std::size_t>(i)];
      if (i % 2 == 1)
        EXPECT_EQ(one.get(), i);
      else
        EXPECT_THROW((void)one.get(), std::invalid_argument);
    }
  }
}

TEST_F(batches, in_a_context_and_with_a_deadline) {
  offload::context queue(2);
  offload::batch calls(queue);
  auto one = calls.add([] { return offload::this_node(); });
  calls.submit();
  EXPECT_EQ(one.get(), 2);

  offload::batch late(offload::within(1, 20ms));
  auto quick = late.add(fn<&echo>, 1);
  closed_gate gate;
  auto slow = late.add(fn<&hold>);
  late.submit();
  EXPECT_THROW(slow.get(), deadline_exceeded);
  EXPECT_THROW((void)quick.get(), deadline_exceeded) << "results come back as one";
  gate.open();
  EXPECT_EQ(offload::sync(1, fn<&echo>, 5), 5);
}

TEST_F(batches, to_oneself_and_from_a_target) {
  offload::batch own(0);
  auto one = own.add(fn<&echo>, 5);
  own.submit();
  EXPECT_EQ(one.get(), 5);
  const int sum = offload::sync(1, [] {
    offload::batch calls(2);
    std::vector<offload::future<int>> results;
    for (int i = 0; i < 100; ++i) results.push_back(calls.add(fn<&echo>, i));
    int total = 0;
    for (auto& result : results) total += result.get();
    return total;
  });
  EXPECT_EQ(sum, 4950);
}

TEST_F(batches, members_may_call_back) {
  offload::batch calls(1);
  std::vector<offload::future<int>> results;
  for (int i = 0; i < 50; ++i)
    results.push_back(calls.add([](int value) { return offload::sync(0, fn<&echo>, value); }, i));
  calls.submit();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), i);
}

TEST_F(batches, many_and_large_ones) {
  std::vector<offload::future<int>> results;
  for (int round = 0; round < unless_sanitized(20, 4); ++round) {
    offload::batch calls(1 + round % 2);
    for (int i = 0; i < 10000; ++i) results.push_back(calls.add(fn<&echo>, i));
  }
  for (std::size_t i = 0; i < results.size(); ++i) ASSERT_EQ(results[i].get(), static_cast<int>(i % 10000));
}

TEST(batch, may_outlive_its_runtime) {
  std::optional<offload::batch> calls;
  offload::future<int> result;
  {
    const runtime job(loopback(1));
    calls.emplace(1);
    result = calls->add(fn<&echo>, 1);
  }
  EXPECT_THROW(result.get(), ham::error);
  calls.reset();
}

std::size_t count_of(std::span<const std::byte> all) { return all.size(); }

TEST_F(batches, arguments_whose_size_cannot_be_told_are_refused) {
  const std::size_t bytes = std::size_t{1} << 32U;  // nobody reads them
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no addresses for 4 GiB";
  offload::batch calls(1);
  try {
    static_cast<void>(calls.add(fn<&count_of>, std::span(static_cast<const std::byte*>(memory), bytes)));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const call_error& why) {
    EXPECT_EQ(why.reason(), call_error_reason::too_long);
  }
  ::munmap(memory, bytes);
  EXPECT_EQ(calls.size(), 0U);
  auto next = calls.add(fn<&echo>, 3);
  EXPECT_EQ(next.get(), 3);
}

TEST_F(batches, errors_of_adding) {
  EXPECT_THROW(
      {
        offload::batch calls(9);
        (void)calls.add(fn<&echo>, 1);
      },
      call_error);
}

}  // namespace batch_test
