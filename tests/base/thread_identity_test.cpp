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

}  // namespace
}  // namespace ham::base
