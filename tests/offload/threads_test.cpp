// Many host threads, big messages, several runtimes in one process.
#include <atomic>
#include <numeric>

#include "bulk.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace threads_test {

int echo(int value) { return value; }
std::atomic<int> ran{0};

template <class Body>
void on_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (auto& one : threads) one.join();
}

class host_threads : public two_targets {};

TEST_F(host_threads, sync) {
  std::atomic<int> wrong{0};
  on_threads(8, [&](int thread) {
    for (int i = 0; i < unless_sanitized(2000, 500); ++i)
      wrong += offload::sync(1 + (thread + i) % 2, fn<&echo>, i) == i ? 0 : 1;
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(host_threads, async_of_all_sizes) {
  std::atomic<int> wrong{0};
  on_threads(6, [&](int thread) {
    for (int round = 0; round < unless_sanitized(20, 8); ++round) {
      std::vector<offload::future<std::string>> all;
      for (std::size_t size : {0U, 10U, 100U, 5000U, 140000U}) {
        all.push_back(offload::async(
            1 + thread % 2, [](const std::string& what) { return what; },
            std::string(size, static_cast<char>('a' + thread))));
      }
      std::size_t at = 0;
      for (std::size_t size : {0U, 10U, 100U, 5000U, 140000U}) {
        if (all[at++].get() != std::string(size, static_cast<char>('a' + thread))) ++wrong;
      }
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(host_threads, everything_at_once) {
  std::atomic<int> wrong{0};
  on_threads(6, [&](int thread) {
    const node_t node = 1 + thread % 2;
    offload::context queue(node);
    offload::buffer<int> there(node, 1000);
    std::vector<int> here(1000, thread), back(1000);
    for (int i = 0; i < unless_sanitized(100, 40); ++i) {
      offload::put_sync(here.data(), there.ptr(), 1000);
      auto in_queue = offload::async(queue, fn<&echo>, i);
      offload::batch calls(node);
      auto in_batch = calls.add(fn<&echo>, i + 1);
      calls.submit();
      auto nested = offload::async(
          node, [](int value) { return offload::sync(0, fn<&echo>, value); }, i + 2);
      auto chained = offload::async(3 - node, fn<&echo>, i).then([](int value) { return value + 3; });
      const bool late = offload::async(offload::within(node, 1h), fn<&echo>, i).get() != i;
      offload::get_sync(there.ptr(), back.data(), 1000);
      if (late || in_queue.get() != i || in_batch.get() != i + 1 || nested.get() != i + 2 || chained.get() != i + 3 ||
          back != here) {
        ++wrong;
      }
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(host_threads, one_computes_while_others_are_called_back) {
  // Only a thread inside the library executes calls that arrive; a waiting thread does.
  std::atomic<bool> stop{false};
  std::thread waiting([&] {
    while (!stop.load()) offload::sync(2, fn<&echo>, 1);
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(offload::sync(
                  1, [](int value) { return offload::sync(0, fn<&echo>, value); }, i),
              i);
  }
  stop = true;
  waiting.join();
}

TEST_F(host_threads, futures_may_be_read_by_another_thread) {
  std::vector<offload::future<int>> all;
  for (int i = 0; i < 1000; ++i) all.push_back(offload::async(1, fn<&echo>, i));
  long sum = 0;
  std::thread reader([&] {
    for (auto& one : all) sum += one.get();
  });
  for (int i = 0; i < 1000; ++i) offload::sync(2, fn<&echo>, i);
  reader.join();
  EXPECT_EQ(sum, 499500);
}

TEST_F(host_threads, of_a_target) {
  const int good = offload::sync(1, [] {
    std::atomic<int> count{0};
    const node_t self = offload::this_node();
    (void)self;
    on_threads(3, [&](int) { ++count; });
    return count.load();
  });
  EXPECT_EQ(good, 3);
}

TEST(progress_thread, executes_calls_while_the_host_computes) {
  runtime_options options = loopback(1);
  options.progress_thread = true;
  runtime job(options);
  ran = 0;
  auto working = offload::async(1, [] { offload::sync(0, [] { ++ran; }); });
  EXPECT_TRUE(eventually([] { return ran.load() == 1; })) << "nobody on the host waits";
  working.get();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(offload::sync(1, fn<&echo>, i), i);
}

// ---- big messages

class big_messages : public either_way {};
INSTANTIATE_TEST_SUITE_P(both, big_messages, testing::Values(true), name_of_way);

TEST_P(big_messages, of_the_largest_size_there_and_back) {
#ifdef HAM_TEST_SANITIZED
  constexpr std::size_t n = 1 << 20;
#else
  constexpr std::size_t n = (std::size_t{64} << 17) - 1;  // doubles; behind their number, 64 MiB
#endif
  std::vector<double> sent(n);
  std::iota(sent.begin(), sent.end(), 0.5);
  const auto got = offload::sync(
      1,
      [](std::vector<double> what) {
        for (double& one : what) one = -one;
        return what;
      },
      sent);
  ASSERT_EQ(got.size(), n);
  for (std::size_t i = 0; i < n; i += 1001) ASSERT_EQ(got[i], -sent[i]);
}

TEST_P(big_messages, several_at_once_with_small_ones_between) {
  const std::vector<char> big(8 << 20, 'm');
  std::vector<offload::future<std::size_t>> all;
  std::vector<offload::future<int>> small;
  for (int i = 0; i < 8; ++i) {
    all.push_back(offload::async(
        1 + i % 2, [](const std::vector<char>& what) { return what.size(); }, big));
    small.push_back(offload::async(1 + i % 2, fn<&echo>, i));
  }
  for (auto& one : all) EXPECT_EQ(one.get(), big.size());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(small[static_cast<std::size_t>(i)].get(), i);
}

TEST_P(big_messages, many_big_results_wait_for_the_reader) {
  std::vector<offload::future<std::vector<int>>> all;
  constexpr int count = unless_sanitized(30, 10);
  for (int i = 0; i < count; ++i)
    all.push_back(offload::async(
        1, [](int fill) { return std::vector<int>(200000, fill); }, i));
  std::this_thread::sleep_for(20ms);
  for (int i = 0; i < count; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), std::vector<int>(200000, i));
}

// ---- several runtimes

TEST(runtimes, side_by_side) {
  runtime first(loopback(1));
  runtime second(loopback(3));
  EXPECT_EQ(offload::num_nodes(), 4U) << "the one made last";
  {
    const auto scope = first.use();
    EXPECT_EQ(offload::num_nodes(), 2U);
    EXPECT_EQ(offload::sync(1, [] { return offload::num_nodes(); }), 2U)
        << "inside a function: the one that executes it";
    EXPECT_THROW(offload::sync(3, [] {}), call_error);
    {
      const auto inner = second.use();
      EXPECT_EQ(offload::sync(3, [] { return offload::num_nodes(); }), 4U);
    }
    EXPECT_EQ(offload::num_nodes(), 2U);
  }
  EXPECT_EQ(offload::num_nodes(), 4U);
  std::atomic<int> wrong{0};
  on_threads(4, [&](int thread) {
    const auto scope = (thread % 2 == 0 ? first : second).use();
    for (int i = 0; i < 500; ++i) wrong += offload::sync(1, fn<&echo>, i) == i ? 0 : 1;
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(runtimes, in_a_chain_of_lives) {
  auto outer = std::make_unique<runtime>(loopback(2));
  {
    runtime inner(loopback(1));
    EXPECT_EQ(offload::num_nodes(), 2U);
  }
  EXPECT_EQ(offload::num_nodes(), 3U) << "the one before is back";
  outer.reset();
  EXPECT_THROW((void)offload::num_nodes(), config_error);
}

TEST(runtimes, the_older_one_goes_first) {
  auto first = std::make_unique<runtime>(loopback(1));
  auto second = std::make_unique<runtime>(loopback(2));
  first.reset();
  EXPECT_EQ(offload::num_nodes(), 3U);
  EXPECT_EQ(offload::sync(2, fn<&echo>, 1), 1);
  second.reset();
  EXPECT_THROW((void)offload::num_nodes(), config_error) << "not the one that has gone";
}

TEST(runtimes, many_start_and_end) {
  for (int i = 0; i < unless_sanitized(50, 20); ++i) {
    runtime job(loopback(1 + i % 5));
    ASSERT_EQ(offload::sync(1, fn<&echo>, i), i);
  }
}

TEST(runtimes, end_with_calls_pending) {
  std::vector<offload::future<void>> pending;
  {
    runtime job(loopback(1));
    for (int i = 0; i < 10; ++i) pending.push_back(offload::async(1, [] { std::this_thread::sleep_for(20ms); }));
  }
  for (auto& one : pending) {
    try {
      one.get();
    } catch (const node_failure& failure) {
      EXPECT_EQ(failure.node(), 1);
    }
  }
}

TEST(runtimes, fifty_targets) {
  runtime job(loopback(50));
  for (int round = 0; round < unless_sanitized(20, 5); ++round) {
    std::vector<offload::future<node_t>> all;
    for (node_t node = 1; node <= 50; ++node) all.push_back(offload::async(node, [] { return offload::this_node(); }));
    for (node_t node = 1; node <= 50; ++node) EXPECT_EQ(all[static_cast<std::size_t>(node - 1)].get(), node);
  }
}

TEST_F(host_threads, statistics_may_be_read_meanwhile) {
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    std::uint64_t before = 0;
    while (!stop) {
      const std::uint64_t now = offload::stats().calls_sent;
      EXPECT_GE(now, before);
      before = now;
    }
  });
  for (int i = 0; i < 2000; ++i)
    offload::sync(
        1, [](int value) { return value; }, i);
  stop = true;
  reader.join();
  EXPECT_GE(offload::stats().calls_sent, 2000U);
}

}  // namespace threads_test
