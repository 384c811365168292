// Pools of nodes: who gets which task, how many, and what becomes of them. Maps: tests/runtime/pool_map_test.cpp.
#include "ham/offload/pool.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
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
std::size_t length(const std::string& text) { return text.size(); }
double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }
void open_gate_in(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
  gate = true;
}
std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

class pool : public two_targets {
 protected:
  pool() {
    gate = false;
    seen = 0;
  }
};

// ---- which node

TEST_F(pool, runs_tasks_on_all_its_nodes) {
  offload::pool workers;
  EXPECT_EQ(workers.living(), 2U);
  auto first = workers.async(fn<&where_behind_gate>);
  auto second = workers.async(fn<&where_behind_gate>);
  EXPECT_EQ(workers.pending(), 2U);
  gate = true;
  EXPECT_EQ((std::set{first.get(), second.get()}), (std::set<node_t>{1, 2}));
}

TEST_F(pool, prefers_the_node_with_the_fewest_tasks) {
  offload::pool workers{{1, 2}};
  auto blocked = workers.async(fn<&where_behind_gate>);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(workers.async(fn<&where>).get(), 2) << i;  // the other one has a task already
  gate = true;
  EXPECT_EQ(blocked.get(), 1);
}

TEST_F(pool, takes_turns_among_equals) {
  offload::pool workers{{1, 2}};
  std::vector<node_t> nodes;
  for (int i = 0; i < 4; ++i) {
    nodes.push_back(workers.async(fn<&where>).get());
    EXPECT_TRUE(eventually([&] { return workers.pending() == 0; }));
  }
  EXPECT_EQ(nodes, (std::vector<node_t>{1, 2, 1, 2}));
}

TEST_F(pool, may_contain_the_own_node) {
  offload::pool workers{{0, 1}};
  std::set<node_t> nodes;
  for (int i = 0; i < 4; ++i) nodes.insert(workers.async(fn<&where>).get());
  EXPECT_EQ(nodes, (std::set<node_t>{0, 1}));
}

TEST_F(pool, takes_every_kind_of_callable_and_argument) {
  offload::pool workers;
  const int factor = 3;
  EXPECT_EQ(workers.async([factor](int value) { return factor * value; }, 4).get(), 12);
  EXPECT_EQ(workers.async(f2f(&twice, 4)).get(), 8);
  EXPECT_EQ(workers.async(pooled(fn<&twice>), 5).get(), 10);
  EXPECT_EQ(workers.async(fn<&length>, "text").get(), 4U);
  const std::vector<double> values{1, 2, 3};
  EXPECT_EQ(workers.async(fn<&sum>, values).get(), 6);
  workers.async(fn<&note>, 5).get();
  EXPECT_EQ(seen, 5);
}

TEST_F(pool, repeatable_tasks_take_the_same) {
  offload::pool workers;
  const int factor = 3;
  EXPECT_EQ(workers.async(idempotent([factor](int value) { return factor * value; }), 4).get(), 12);
  EXPECT_EQ(workers.async(pooled(idempotent(fn<&twice>)), 5).get(), 10);
  EXPECT_EQ(workers.async(idempotent(pooled(fn<&twice>)), 5).get(), 10);
  EXPECT_EQ(workers.async(idempotent(fn<&length>), "text").get(), 4U);
  const std::vector<double> values{1, 2, 3};
  EXPECT_EQ(workers.async(idempotent(fn<&sum>), values).get(), 6);
  workers.async(idempotent(fn<&note>), 5).get();
  EXPECT_EQ(seen, 5);
}

TEST(idempotent, is_seen_through_other_wrappers) {
  EXPECT_TRUE(msg::is_idempotent_v<decltype(idempotent(fn<&twice>))>);
  EXPECT_TRUE(msg::is_idempotent_v<decltype(pooled(idempotent(fn<&twice>)))>);
  EXPECT_TRUE(msg::is_idempotent_v<decltype(named<"pool_test_twice">(idempotent(fn<&twice>)))>);
  EXPECT_FALSE(msg::is_idempotent_v<decltype(pooled(fn<&twice>))>);
  EXPECT_TRUE((std::is_same_v<ham::detail::call_of<decltype(pooled(idempotent(fn<&twice>))), int>::message,
                              ham::detail::call_of<decltype(pooled(fn<&twice>)), int>::message>))
      << "one handler";
  EXPECT_EQ(idempotent(fn<&twice>)(4), 8) << "callable where it stands";
}

TEST_F(pool, refuses_lists_of_nodes_that_cannot_work) {
  const auto text = [](auto make) { return message_of<config_error>(make); };
  EXPECT_NE(text([] { offload::pool none(std::vector<node_t>{}); }).find("no nodes"), std::string::npos);
  EXPECT_NE(text([] { offload::pool far({1, 7}); }).find("node 7 (the job has nodes 0 to 2)"), std::string::npos);
  EXPECT_NE(text([] { offload::pool negative({-1}); }).find("node -1"), std::string::npos);
  EXPECT_NE(text([] { offload::pool same({1, 2, 1}); }).find("node 1 twice"), std::string::npos);
}

TEST(pool_alone, of_a_job_without_targets_says_so) {
  runtime_options options;
  options.nodes = "none";
  const runtime job(options);
  EXPECT_THROW(offload::pool(), config_error);
}

// ---- bounds

TEST_F(pool, has_bounded_room) {
  offload::pool workers({1, 2}, {.per_node = 2});
  std::vector<offload::future<node_t>> all;
  while (auto one = workers.try_async(fn<&where_behind_gate>)) all.push_back(std::move(*one));
  EXPECT_EQ(all.size(), 4U);
  EXPECT_FALSE(workers.try_async(idempotent(fn<&where_behind_gate>)).has_value());
  EXPECT_EQ(workers.pending(), 4U);
  std::thread opens([] { open_gate_in(20ms); });
  all.push_back(workers.async(fn<&where_behind_gate>));  // waits
  EXPECT_TRUE(gate);
  all.push_back(workers.async(idempotent(fn<&where_behind_gate>)));
  opens.join();
  for (auto& one : all) EXPECT_GT(one.get(), 0);
  EXPECT_TRUE(eventually([&] { return workers.pending() == 0; }));
}

TEST_F(pool, serves_threads_that_wait_for_room_in_their_order) {
  offload::pool workers({1}, {.per_node = 1});
  auto first = workers.async(fn<&where_behind_gate>);
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      auto mine = workers.async(fn<&where>);
      {
        const std::lock_guard guard(mutex);
        order.push_back(thread);
      }
      mine.get();
    });
    EXPECT_TRUE(eventually([&] { return workers.pending() == static_cast<std::size_t>(thread) + 2; }));
  }
  EXPECT_FALSE(workers.try_async(fn<&where>).has_value()) << "others wait";
  gate = true;
  first.get();
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST_F(pool, try_async_sends_nothing_where_the_queue_to_the_node_is_full) {
  offload::pool workers({1}, {.per_node = 1'000'000});
  auto blocked = workers.async(fn<&where_behind_gate>);
  std::vector<offload::future<double>> all;
  const std::vector<double> values(1'000, 1.0);
  for (;;) {  // the node computes and reads nothing
    auto one =
        all.size() % 2 == 0 ? workers.try_async(fn<&sum>, values) : workers.try_async(idempotent(fn<&sum>), values);
    if (!one) break;
    all.push_back(*std::move(one));
    ASSERT_LT(all.size(), 100'000U);
  }
  EXPECT_EQ(workers.pending(), all.size() + 1) << "what was not sent holds no place";
  gate = true;
  for (auto& one : all) EXPECT_EQ(one.get(), 1'000);
  EXPECT_GT(blocked.get(), 0);
}

// ---- within calls

offload::pool* shared = nullptr;
/// A function of the host, called by a task of the pool: the pool has no room before it returns.
int more_tasks(int value) {
  int total = 0;
  for (int i = 0; i < 5; ++i) total += shared->async(fn<&twice>, value).get();
  total += shared->async(idempotent(fn<&twice>), value).get();
  const auto mapped = shared->map(std::vector<int>(4, value), fn<&twice>);
  return std::accumulate(mapped.begin(), mapped.end(), total);
}
int asks_the_host(int value) { return offload::sync(0, fn<&more_tasks>, value); }
int asks_the_host_for_a_pooled_call(int value) { return offload::sync(0, pooled(fn<&more_tasks>), value); }
int asks_another_node(int value) {
  offload::pool others({0, 1, 2}, {.per_node = 1});
  auto first = others.async(fn<&twice>, value);
  auto second = others.async(fn<&twice>, value);
  return first.get() + second.get();
}

TEST_F(pool, calls_within_its_tasks_use_it_without_a_deadlock) {
  offload::pool workers({1, 2}, {.per_node = 1});
  shared = &workers;
  auto first = workers.async(fn<&asks_the_host>, 1);
  auto second = workers.async(fn<&asks_the_host>, 2);
  auto third = workers.async(fn<&asks_the_host>, 3);  // waits for room: so it is this thread that runs more_tasks
  EXPECT_EQ(first.get(), 20);
  EXPECT_EQ(second.get(), 40);
  EXPECT_EQ(third.get(), 60);
  auto fourth = workers.async(fn<&asks_the_host_for_a_pooled_call>, 4);
  auto fifth = workers.async(fn<&asks_the_host_for_a_pooled_call>, 5);
  EXPECT_EQ(fourth.get(), 80);
  EXPECT_EQ(fifth.get(), 100);
}

TEST_F(pool, is_used_in_functions_of_targets) {
  EXPECT_EQ(offload::sync(1, fn<&asks_another_node>, 3), 12);
  offload::pool workers({1, 2}, {.per_node = 2});
  EXPECT_EQ(workers.map(numbers(50), fn<&asks_another_node>).at(49), 4 * 49);
}

TEST_F(pool, continuations_start_further_tasks) {
  offload::pool workers({1, 2}, {.per_node = 1});
  std::atomic<int> left{50};
  std::function<void()> next = [&] {
    workers.async(fn<&twice>, 1).on_result([&](offload::future<int> result) {
      EXPECT_EQ(result.get(), 2);
      if (--left > 0) next();
    });
  };
  next();
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(offload::progress());
    return left == 0 && workers.pending() == 0;
  }));
}

// ---- settling

TEST_F(pool, waits_for_its_tasks_at_its_end) {
  std::vector<offload::future<int>> all;
  {
    offload::pool workers;
    for (int i = 0; i < 100; ++i)
      all.push_back(i % 2 == 0 ? workers.async(fn<&twice>, i) : workers.async(idempotent(fn<&twice>), i));
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(all[static_cast<std::size_t>(i)].test());
    EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), 2 * i);
  }
}

TEST_F(pool, waits_at_its_end_for_tasks_that_were_detached) {
  {
    offload::pool workers;
    for (int i = 0; i < 100; ++i) {
      workers.async(fn<&note>, 1).detach();
      workers.async(idempotent(fn<&note>), 1).detach();
    }
  }
  EXPECT_EQ(seen, 200);
}

TEST_F(pool, errors_of_tasks_are_in_their_futures) {
  offload::pool workers;
  EXPECT_THROW(workers.async(fn<&refuse_seven>, 7).get(), std::out_of_range);
  EXPECT_THROW(workers.async(idempotent(fn<&refuse_seven>), 7).get(), std::out_of_range);
  EXPECT_EQ(workers.async(idempotent(fn<&refuse_seven>), 8).get(), 8);
  EXPECT_EQ(workers.living(), 2U);
  EXPECT_TRUE(eventually([&] { return workers.pending() == 0; }));
}

TEST_F(pool, what_cannot_be_sent_holds_no_place) {
  offload::pool workers({1, 2}, {.per_node = 1});
  const std::string too_long(std::size_t{65} << 20, 'x');
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(static_cast<void>(workers.async(fn<&length>, too_long)), call_error);
    EXPECT_THROW(static_cast<void>(workers.async(idempotent(fn<&length>), too_long)), call_error);
  }
  EXPECT_EQ(workers.pending(), 0U);
  EXPECT_EQ(workers.async(fn<&length>, "text").get(), 4U);
}

TEST(pool_alone, may_outlive_its_runtime) {
  gate = false;
  std::optional<offload::pool> workers;
  offload::future<node_t> one, other;
  {
    runtime job(loopback(1));
    workers.emplace();
    one = workers->async(fn<&where_behind_gate>);
    other = workers->async(idempotent(fn<&where>));
    gate = true;
  }
  EXPECT_TRUE(one.test());
  EXPECT_TRUE(other.test());
  static_cast<void>(one.has_value());
  static_cast<void>(other.has_value());
  EXPECT_THROW(static_cast<void>(workers->async(fn<&where>)), error);
  workers.reset();
}

TEST_F(pool, is_used_by_several_threads) {
  offload::pool workers({1, 2}, {.per_node = 3});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      const std::vector<int> values = numbers(500);
      for (int i = 0; i < 200; ++i) EXPECT_EQ(workers.async(fn<&twice>, i).get(), 2 * i);
      EXPECT_EQ(workers.map(values, fn<&twice>)[499], 998);
      for (int i = 0; i < 200; ++i) EXPECT_EQ(workers.async(idempotent(fn<&twice>), i).get(), 2 * i);
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_TRUE(eventually([&] { return workers.pending() == 0; }));
}

TEST(pool_alone, belongs_to_the_runtime_in_which_it_was_made) {
  runtime first(loopback(1));
  offload::pool workers;
  runtime second(loopback(1));  // from here on that of this thread
  const std::uint64_t before = offload::stats().calls_sent;
  EXPECT_EQ(workers.async(fn<&twice>, 2).get(), 4);
  EXPECT_EQ(workers.async(idempotent(fn<&twice>), 2).get(), 4);
  EXPECT_EQ(workers.map(std::vector<int>{1, 2}, fn<&twice>), (std::vector<int>{2, 4}));
  EXPECT_EQ(offload::stats().calls_sent, before) << "the second one";
}

}  // namespace pool_test
