// Calls that go back and forth between two processes, from several threads at once. A lost wake-up shows as a hang.
// link: ham::ham
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

void from_threads(int threads, int depth) {
  runtime rt(nodes("shm:1"));
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < threads; ++i) {
    callers.emplace_back([&] {
      for (int call = 0; call < rounds(3000); ++call) wrong += offload::sync(1, fn<&down>, depth) != depth;
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
      rounds(3000));
  std::thread second([] {
    for (int i = 0; i < rounds(3000); ++i) EXPECT_EQ(offload::sync(1, fn<&down>, 4), 4);
  });
  for (int i = 0; i < rounds(3000); ++i) EXPECT_EQ(offload::sync(1, fn<&down>, 4), 4);
  second.join();
  EXPECT_EQ(there.get(), 4 * rounds(3000));
}

}  // namespace
