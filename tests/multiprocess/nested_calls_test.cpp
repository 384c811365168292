// Calls that go back and forth between two processes, from several threads at once. A lost wake-up shows as a hang.
// link: ham::ham
// env: HAM_POOL_THREADS=2
#include "support.hpp"

#include <atomic>
#include <thread>
#include <vector>

using namespace ham;
using namespace ham::test;

namespace {

int up(int depth);
int down(int depth) { return depth == 0 ? 0 : 1 + offload::sync(0, fn<&up>, depth - 1); }
int up(int depth) { return depth == 0 ? 0 : 1 + offload::sync(1, fn<&down>, depth - 1); }

int myself(int depth) { return depth == 0 ? 0 : 1 + offload::sync(offload::this_node(), fn<&myself>, depth - 1); }

const int call_count = rounds(sanitized() ? 500 : 3000);

void from_threads(int threads, int depth) {
  runtime rt(nodes("shm:1"));
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < threads; ++i) {
    callers.emplace_back([&] {
      for (int call = 0; call < call_count; ++call) wrong += offload::sync(1, fn<&down>, depth) != depth;
    });
  }
  for (std::thread& one : callers) one.join();
  EXPECT_EQ(wrong, 0);
}

TEST(nested_calls, shallow_from_two_threads) { from_threads(2, 1); }
TEST(nested_calls, deep_from_two_threads) { from_threads(2, 8); }
TEST(nested_calls, deep_from_four_threads) { from_threads(4, 8); }

TEST(nested_calls, both_nodes_begin) {
  runtime rt(nodes("shm:1"));
  auto there = offload::async(
      1,
      [](int calls) {
        int sum = 0;
        for (int i = 0; i < calls; ++i) sum += offload::sync(0, fn<&up>, 4);
        return sum;
      },
      call_count);
  std::thread second([] {
    for (int i = 0; i < call_count; ++i) EXPECT_EQ(offload::sync(1, fn<&down>, 4), 4);
  });
  for (int i = 0; i < call_count; ++i) EXPECT_EQ(offload::sync(1, fn<&down>, 4), 4);
  second.join();
  EXPECT_EQ(there.get(), 4 * call_count);
}

// ---- the limit of nesting

std::atomic<int> depth{0};
std::atomic<int> deepest{0};
int echo(int value) { return value; }
/// Computes, then waits for another node; further calls run inside the wait.
int compute_and_wait(int us, int value, node_t other) {
  const int now = ++depth;
  if (now > deepest) deepest = now;
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < until) {
  }
  const int result = offload::sync(other, fn<&echo>, value);
  --depth;
  return result;
}
int deepest_so_far() { return deepest; }

/// Calls behind one that computes, all of which wait inside each other: no more than 512 do, and all are answered.
void behind_a_long_call(int calls) {
  std::vector<offload::future<int>> all;
  for (int i = 0; i < calls; ++i) all.push_back(offload::async(1, fn<&compute_and_wait>, i == 0 ? 100'000 : 10, i, 0));
  for (int i = 0; i < calls; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)].get(), i);
  EXPECT_LE(offload::sync(1, fn<&deepest_so_far>), 512);
}

TEST(nesting_limit, of_calls_that_were_set_aside) {
  runtime rt(nodes("shm:1"));
  const offload::context receives_while_node_1_computes(1);
  behind_a_long_call(3000);
  behind_a_long_call(3000);
}

TEST(nesting_limit, of_calls_that_wait_in_the_ring) {
  runtime rt(nodes("shm:1"));
  behind_a_long_call(3000);
}

TEST(nesting_limit, of_calls_in_batches) {
  runtime rt(nodes("shm:1"));
  const offload::context receives_while_node_1_computes(1);
  std::vector<offload::future<int>> all;
  for (int i = 0; i < 30; ++i) {
    offload::batch calls(1);
    for (int j = 0; j < 100; ++j) all.push_back(calls.add(fn<&compute_and_wait>, i + j == 0 ? 100'000 : 10, j, 0));
  }
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].get(), static_cast<int>(i % 100));
  EXPECT_LE(offload::sync(1, fn<&deepest_so_far>), 512);
}

/// One thread of the host computes in a call of node 1, the other one receives further ones.
TEST(nesting_limit, of_calls_that_another_thread_of_the_host_received) {
  runtime rt(nodes("shm:1"));
  depth = deepest = 0;
  std::atomic<bool> over{false};
  std::thread second([&] {
    while (!over) static_cast<void>(offload::sync(1, fn<&echo>, 0));
  });
  const int wrong = offload::sync(1, [] {
    std::vector<offload::future<int>> all;
    for (int i = 0; i < 3000; ++i) {
      all.push_back(offload::async(0, fn<&compute_and_wait>, i == 0 ? 100'000 : 10, i, 1));
    }
    int different = 0;
    for (int i = 0; i < 3000; ++i) different += all[static_cast<std::size_t>(i)].get() != i;
    return different;
  });
  over = true;
  second.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(deepest, 512);
}

// ---- pooled calls that wait for pooled calls

int pooled_on(node_t next, int depth) {
  return depth == 0 ? 0 : 1 + offload::sync(next, pooled(fn<&pooled_on>), offload::this_node(), depth - 1);
}

TEST(pooled_calls, may_wait_for_others_of_their_own_node) {
  runtime rt(nodes("shm:1"));
  EXPECT_EQ(pooled_on(0, 20), 20);
}

TEST(pooled_calls, may_wait_for_others_across_nodes) {
  runtime rt(nodes("shm:1"));
  EXPECT_EQ(pooled_on(1, 40), 40);
  std::vector<offload::future<int>> all;
  for (int i = 0; i < 20; ++i) all.push_back(offload::async(1, pooled(fn<&pooled_on>), 0, 6));
  for (auto& one : all) EXPECT_EQ(one.get(), 6);
}

TEST(nesting_limit, ends_calls_that_go_back_and_forth_for_ever) {
  runtime rt(nodes("shm:1"));
  EXPECT_THROW(offload::sync(1, fn<&down>, 5000), call_error);
  EXPECT_EQ(offload::sync(1, fn<&down>, 400), 400);
  EXPECT_THROW(offload::sync(0, fn<&myself>, 5000), call_error) << "also on one node alone";
  EXPECT_EQ(offload::sync(0, fn<&myself>, 400), 400);
}

}  // namespace
