// Identities of threads.
#include "base/thread_identity.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ham::inline v1::base {
namespace {

TEST(thread_identity, is_the_thread_s_own_and_stays) {
  const void* const mine = thread_identity();
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(thread_identity(), mine);
  const void* other = nullptr;
  std::thread([&] { other = thread_identity(); }).join();
  EXPECT_NE(other, nullptr);
  EXPECT_NE(other, mine);
}

TEST(thread_identity, numbers_are_the_threads_own_and_stay) {
  const unsigned mine = thread_number();
  EXPECT_NE(mine, 0U);
  EXPECT_EQ(thread_number(), mine);
  unsigned first = 0;
  unsigned second = 0;
  std::thread([&] { first = thread_number(); }).join();
  std::thread([&] { second = thread_number(); }).join();
  EXPECT_NE(first, mine);
  EXPECT_GT(second, first) << "in the order in which they ask";
}

}  // namespace
}  // namespace ham::base
