// Continuations come out in the order in which they went in, whoever takes them.
#include "core/ready_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ham::inline v1::detail {
namespace {

TEST(ready_queue, gives_the_oldest_first) {
  std::vector<continuation> some(4, continuation{nullptr});
  ready_queue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
  some[0].next = &some[1];  // two of one call
  queue.push(&some[0]);
  queue.push(&some[2]);
  EXPECT_FALSE(queue.empty());
  for (int i = 0; i < 3; ++i) {
    continuation* const one = queue.pop();
    EXPECT_EQ(one, &some[static_cast<std::size_t>(i)]);
    EXPECT_EQ(one->next, nullptr) << "it is no chain any more";
  }
  EXPECT_TRUE(queue.empty());
  queue.push(&some[3]);
  EXPECT_EQ(queue.pop(), &some[3]);
}

TEST(ready_queue, is_empty_in_a_child) {
  continuation one{nullptr};
  ready_queue queue;
  queue.push(&one);
  queue.renew();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(ready_queue, loses_nothing_between_threads) {
  constexpr std::size_t each = 2000;
  std::vector<continuation> some(4 * each, continuation{nullptr});
  ready_queue queue;
  std::atomic<std::size_t> taken{0};
  std::vector<std::thread> threads;
  for (std::size_t who = 0; who < 4; ++who) {
    threads.emplace_back([&, who] {
      for (std::size_t i = 0; i < each; ++i) {
        queue.push(&some[who * each + i]);
        if (queue.pop() != nullptr) ++taken;
      }
    });
  }
  for (std::thread& one : threads) one.join();
  while (queue.pop() != nullptr) ++taken;
  EXPECT_EQ(taken.load(), some.size());
}

}  // namespace
}  // namespace ham::detail
