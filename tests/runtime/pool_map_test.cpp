// Maps over ranges on pools of nodes.
#include <algorithm>
#include <atomic>
#include <list>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload/pool.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace pool_map_test {

std::atomic<bool> gate{false};
std::atomic<int> seen{0};
int twice(int value) { return 2 * value; }
void note(int value) { seen += value; }
int refuse_seven(int value) {
  if (value == 7) throw std::out_of_range("seven");
  return value;
}
std::size_t length(const std::string& text) { return text.size(); }
double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }
std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

class pool_map : public two_targets {
 protected:
  pool_map() {
    gate = false;
    seen = 0;
  }
};

TEST_F(pool_map, maps_in_order) {
  offload::pool workers;
  const std::vector<int> values = numbers(10'000);
  const std::vector<int> doubled = workers.map(values, fn<&twice>);
  ASSERT_EQ(doubled.size(), values.size());
  for (const int value : values) ASSERT_EQ(doubled[static_cast<std::size_t>(value)], 2 * value);
  EXPECT_TRUE(workers.map(std::vector<int>{}, fn<&twice>).empty());
}

TEST_F(pool_map, maps_ranges_of_all_kinds) {
  offload::pool workers;
  const auto lengths =
      workers.map(std::vector<std::string>{"a", "bcd"}, [](const std::string& text) { return text.size(); });
  EXPECT_EQ(lengths, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(workers.map(std::views::iota(1, 4), fn<&twice>), (std::vector<int>{2, 4, 6}));
  EXPECT_EQ(workers.map(std::list<int>{1, 2}, fn<&twice>), (std::vector<int>{2, 4}));
  const int array[] = {5, 6};
  EXPECT_EQ(workers.map(array, fn<&twice>), (std::vector<int>{10, 12}));
  const std::vector<bool> flags{true, false, true};
  EXPECT_EQ(workers.map(flags, [](bool flag) { return !flag; }), (std::vector<bool>{false, true, false}));
  const std::vector<std::vector<double>> rows{{1, 2}, {}, {3}};
  EXPECT_EQ(workers.map(rows, fn<&sum>), (std::vector<double>{3, 0, 3}));
  auto odd = std::vector<int>{1, 2, 3} | std::views::filter([](int value) { return value % 2 != 0; });
  EXPECT_EQ(workers.map(odd, fn<&twice>), (std::vector<int>{2, 6}));
}

TEST_F(pool_map, maps_with_wrapped_callables) {
  offload::pool workers;
  const std::vector<int> expected{2, 4};
  const std::vector<int> values{1, 2};
  EXPECT_EQ(workers.map(values, idempotent(fn<&twice>)), expected);
  EXPECT_EQ(workers.map(values, pooled(fn<&twice>)), expected);
  EXPECT_EQ(workers.map(values, named<"pool_map_test_twice">(idempotent(fn<&twice>))), expected);
  EXPECT_EQ(workers.map(values, [](auto value) { return 2 * value; }), expected);
  EXPECT_EQ(
      workers.map(values, bind([](const std::string& text, int value) { return static_cast<int>(text.size()) * value; },
                               std::string("ab"))),
      expected);
}

TEST_F(pool_map, maps_as_results_come) {
  offload::pool workers{{1, 2}};
  std::vector<std::size_t> order;
  const auto waits_for_the_gate = [](int value) {
    if (value == 0)
      while (!gate) std::this_thread::sleep_for(100us);
    return 2 * value;
  };
  const auto sink = [&](std::size_t at, int value) {
    EXPECT_EQ(value, 2 * static_cast<int>(at));
    order.push_back(at);
    if (order.size() == 5) gate = true;  // two wait on the node of the first
  };
  workers.map(numbers(7), waits_for_the_gate, sink, {.chunk = 1});
  ASSERT_EQ(order.size(), 7U);
  EXPECT_EQ((std::set(order.begin(), order.end())).size(), 7U);
  EXPECT_NE(std::find(order.begin() + 5, order.end(), 0U), order.end()) << "the first one was not waited for";
}

TEST_F(pool_map, tells_how_far_a_map_is) {
  offload::pool workers;
  std::vector<std::size_t> told;
  const std::thread::id here = std::this_thread::get_id();
  const auto on_progress = [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, 1'000U);
    EXPECT_EQ(std::this_thread::get_id(), here);
    told.push_back(done);
  };
  static_cast<void>(workers.map(numbers(1'000), fn<&twice>, {.chunk = 10, .on_progress = on_progress}));
  EXPECT_EQ(told.size(), 100U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 1'000U);
  workers.map(numbers(1'000), fn<&note>, {.chunk = 7});
  EXPECT_EQ(seen, 999 * 500);
}

std::atomic<int> calls_of_count{0};
std::size_t count(const std::string& text) {
  ++calls_of_count;
  return text.size();
}

TEST_F(pool_map, chunks_are_as_large_as_asked_for_and_fit_into_messages) {
  offload::pool workers;
  const auto chunks_of = [&](const auto& values, std::size_t size, const auto& callable) {
    std::vector<std::size_t> ends{0};
    const auto sink = [](std::size_t, auto&&) {};
    workers.map(values, callable, sink,
                {.chunk = size, .on_progress = [&](std::size_t done, std::size_t) { ends.push_back(done); }});
    std::vector<std::size_t> sizes;
    for (std::size_t at = 1; at < ends.size(); ++at) sizes.push_back(ends[at] - ends[at - 1]);
    std::sort(sizes.begin(), sizes.end());
    return sizes;
  };
  EXPECT_EQ(chunks_of(numbers(10), 4, fn<&twice>), (std::vector<std::size_t>{2, 4, 4}));
  EXPECT_EQ(chunks_of(numbers(3), 100, fn<&twice>), (std::vector<std::size_t>{3}));
  const auto chosen = chunks_of(numbers(6'000), 0, fn<&twice>);
  EXPECT_EQ(chosen.front(), 1U) << "small ones at the end";
  EXPECT_EQ(chosen.back(), 1'000U) << "a third of a node's share at first";
  EXPECT_LT(chosen.size(), 100U);
  const std::vector<std::string> large(60, std::string(300'000, 'x'));  // three of which are a message's megabyte
  const auto by_bytes = chunks_of(large, 0, fn<&count>);
  EXPECT_EQ(by_bytes.back(), 3U);
  EXPECT_EQ(calls_of_count, 60);
}

TEST_F(pool_map, a_map_throws_the_first_error_when_nothing_is_under_way) {
  offload::pool workers;
  const std::vector<int> values = numbers(100);
  EXPECT_THROW(static_cast<void>(workers.map(values, fn<&refuse_seven>, {.chunk = 5})), std::out_of_range);
  EXPECT_EQ(workers.pending(), 0U);
  std::size_t sunk = 0;
  const auto sink = [&](std::size_t, int) {
    if (++sunk == 3) throw std::logic_error("sink");
  };
  EXPECT_THROW(workers.map(values, fn<&twice>, sink), std::logic_error);
  EXPECT_EQ(sunk, 3U) << "nothing more comes";
  const auto stop = [](std::size_t done, std::size_t) {
    if (done >= 20) throw std::runtime_error("enough");
  };
  EXPECT_THROW(static_cast<void>(workers.map(values, fn<&twice>, {.chunk = 10, .on_progress = stop})),
               std::runtime_error);
  EXPECT_EQ(workers.map(values, fn<&twice>).size(), 100U);
  const std::vector<std::string> too_long{"short", std::string(std::size_t{65} << 20, 'x'), "short"};
  EXPECT_THROW(static_cast<void>(workers.map(too_long, fn<&length>)), call_error);
  EXPECT_EQ(workers.pending(), 0U);
}

TEST_F(pool_map, a_map_goes_on_beside_tasks_that_take_all_room) {
  offload::pool workers({1, 2}, {.per_node = 1});
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int thread = 0; thread < 3; ++thread) {
    others.emplace_back([&] {
      while (!stop) EXPECT_EQ(workers.async(fn<&twice>, 4).get(), 8);
    });
  }
  EXPECT_EQ(workers.map(numbers(200), fn<&twice>, {.chunk = 2}).size(), 200U);
  stop = true;
  for (std::thread& one : others) one.join();
}

}  // namespace pool_map_test
