// Pools of nodes.
#include "ham/offload/pool.hpp"

#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace pool_test {

std::atomic<bool> gate{false};
int twice(int value) { return 2 * value; }
node_t where() { return offload::this_node(); }
node_t where_behind_gate() {
  while (!gate) std::this_thread::sleep_for(100us);
  return offload::this_node();
}
std::atomic<int> seen{0};
void note(int value) { seen += value; }
int refuse_seven(int value) {
  if (value == 7) throw std::out_of_range("seven");
  return value;
}

class pool : public two_targets {
 protected:
  pool() {
    gate = false;
    seen = 0;
  }
};

TEST_F(pool, runs_tasks_on_all_its_nodes) {
  offload::pool workers;
  EXPECT_EQ(workers.living(), 2U);
  auto first = workers.async(fn<&where_behind_gate>);
  auto second = workers.async(fn<&where_behind_gate>);
  EXPECT_EQ(workers.busy(), 2U);
  gate = true;
  EXPECT_EQ((std::set{first.get(), second.get()}), (std::set<node_t>{1, 2}));
}

TEST_F(pool, prefers_the_node_with_the_fewest_tasks) {
  offload::pool workers{{1, 2}};
  auto blocked = offload::async(1, fn<&where_behind_gate>);
  auto a = workers.async(fn<&where>);  // one of each
  auto b = workers.async(fn<&where>);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(workers.async(fn<&where>).get(), 2);  // the other has one still
  gate = true;
  blocked.get();
  a.get();
  b.get();
}

TEST_F(pool, has_bounded_room) {
  offload::pool workers({1, 2}, {.per_node = 2});
  std::vector<offload::future<node_t>> all;
  while (auto one = workers.try_async(fn<&where_behind_gate>)) all.push_back(std::move(*one));
  EXPECT_EQ(all.size(), 4U);
  std::thread opens([] {
    std::this_thread::sleep_for(20ms);
    gate = true;
  });
  all.push_back(workers.async(fn<&where_behind_gate>));  // waits
  EXPECT_TRUE(gate);
  opens.join();
  for (auto& one : all) one.get();
  EXPECT_EQ(workers.busy(), 0U);
}

TEST_F(pool, waits_for_its_tasks_at_its_end) {
  std::vector<offload::future<int>> all;
  {
    offload::pool workers;
    for (int i = 0; i < 100; ++i) all.push_back(workers.async(fn<&twice>, i));
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(all[static_cast<std::size_t>(i)].test());
    EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), 2 * i);
  }
}

TEST_F(pool, errors_of_tasks_are_in_their_futures) {
  offload::pool workers;
  EXPECT_THROW(workers.async(fn<&refuse_seven>, 7).get(), std::out_of_range);
  EXPECT_THROW(workers.async(idempotent(fn<&refuse_seven>), 7).get(), std::out_of_range);
  EXPECT_EQ(workers.async(idempotent(fn<&refuse_seven>), 8).get(), 8);
  EXPECT_THROW(offload::pool(std::vector<node_t>{}), config_error);
  EXPECT_THROW(offload::pool({1}, {.per_node = 0}), config_error);
}

TEST_F(pool, maps_in_order) {
  offload::pool workers;
  std::vector<int> values(10'000);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> doubled = workers.map(values, fn<&twice>);
  ASSERT_EQ(doubled.size(), values.size());
  for (int value : values) ASSERT_EQ(doubled[static_cast<std::size_t>(value)], 2 * value);
  EXPECT_TRUE(workers.map(std::vector<int>{}, fn<&twice>).empty());
  const auto lengths = workers.map(std::vector<std::string>{"a", "bcd"}, [](const std::string& s) { return s.size(); });
  EXPECT_EQ(lengths, (std::vector<std::size_t>{1, 3}));
}

TEST_F(pool, maps_as_results_come_and_tells_how_far_it_is) {
  offload::pool workers;
  std::vector<int> values(1'000);
  std::iota(values.begin(), values.end(), 0);
  std::set<std::size_t> indices;
  std::vector<std::size_t> told;
  const auto sink = [&](std::size_t at, int value) {
    EXPECT_EQ(value, 2 * static_cast<int>(at));
    indices.insert(at);
  };
  workers.map(values, fn<&twice>, sink, {.chunk = 10, .on_progress = [&](std::size_t done, std::size_t total) {
                                           EXPECT_EQ(total, 1'000U);
                                           told.push_back(done);
                                         }});
  EXPECT_EQ(indices.size(), 1'000U);
  EXPECT_EQ(told.size(), 100U);
  EXPECT_EQ(told.back(), 1'000U);
  workers.map(values, fn<&note>, offload::map_options{.chunk = 7});
  EXPECT_EQ(seen, 999 * 500);
}

TEST_F(pool, a_map_throws_the_first_error_when_nothing_is_under_way) {
  offload::pool workers;
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_THROW(workers.map(values, fn<&refuse_seven>, offload::map_options{.chunk = 5}), std::out_of_range);
  EXPECT_EQ(workers.busy(), 0U);
  const auto sink = [](std::size_t, int) { throw std::logic_error("sink"); };
  EXPECT_THROW(workers.map(values, fn<&twice>, sink), std::logic_error);
  EXPECT_EQ(workers.map(values, fn<&twice>).size(), 100U);
}

TEST_F(pool, is_used_by_several_threads) {
  offload::pool workers({1, 2}, {.per_node = 3});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      std::vector<int> values(500);
      std::iota(values.begin(), values.end(), 0);
      for (int i = 0; i < 200; ++i) EXPECT_EQ(workers.async(fn<&twice>, i).get(), 2 * i);
      EXPECT_EQ(workers.map(values, fn<&twice>)[499], 998);
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(workers.busy(), 0U);
}

}  // namespace pool_test
