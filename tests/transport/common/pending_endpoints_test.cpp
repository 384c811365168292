// Endpoints on their way to the receiving thread: none is lost, and their order stays.
#include "transport/common/pending_endpoints.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace ham::inline v1::transport {
namespace {

using numbers = pending_endpoints<int>;

TEST(pending_endpoints, are_taken_in_their_order_and_once) {
  numbers waiting;
  EXPECT_FALSE(waiting.any());
  EXPECT_TRUE(waiting.take().empty());
  for (int i = 0; i < 3; ++i) waiting.add(std::make_unique<int>(i));
  EXPECT_TRUE(waiting.any());
  const auto taken = waiting.take();
  ASSERT_EQ(taken.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*taken[static_cast<std::size_t>(i)], i);
  EXPECT_FALSE(waiting.any());
  EXPECT_TRUE(waiting.take().empty());
}

TEST(pending_endpoints, a_request_to_look_is_answered_once) {
  numbers waiting;
  waiting.look();
  EXPECT_TRUE(waiting.any());
  EXPECT_TRUE(waiting.any());
  EXPECT_TRUE(waiting.take().empty());
  EXPECT_FALSE(waiting.any());
}

TEST(pending_endpoints, of_several_threads_all_arrive) {
  constexpr int of_each = 500;
  numbers waiting;
  const auto add = [&](int first) {
    for (int i = 0; i < of_each; ++i) waiting.add(std::make_unique<int>(first + i));
  };
  std::thread one(add, 0);
  std::thread other(add, of_each);
  std::set<int> taken;
  while (taken.size() < 2 * of_each) {
    if (!waiting.any()) {
      std::this_thread::yield();
      continue;
    }
    for (const auto& each : waiting.take()) EXPECT_TRUE(taken.insert(*each).second) << *each << " came twice";
  }
  one.join();
  other.join();
  EXPECT_FALSE(waiting.any());
}

}  // namespace
}  // namespace ham::transport
