// A lock that is held by nobody who exists becomes a new one.
#include "base/renew.hpp"

#include <gtest/gtest.h>

#include "base/biased_lock.hpp"

namespace ham::inline v1::base {
namespace {

TEST(renew, frees_a_lock_that_is_held) {
  biased_lock lock;
  lock.lock();
  ASSERT_FALSE(lock.try_lock());
  renew(lock);
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(renew, destroys_nothing) {
  struct watched {
    int* ended = nullptr;
    int value = 1;
    ~watched() {
      if (ended != nullptr) ++*ended;
    }
  };
  int ended = 0;
  watched one;
  one.ended = &ended;
  one.value = 2;
  renew(one);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(one.value, 1);
  EXPECT_EQ(one.ended, nullptr);
}

}  // namespace
}  // namespace ham::base
