// A lock whose holder may take it again.
#include "base/recursive_spin_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace ham::inline v1::base {
namespace {

TEST(recursive_spin_lock, its_holder_may_take_it_again) {
  recursive_spin_lock lock;
  EXPECT_FALSE(lock.held());
  lock.lock();
  ASSERT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.held_by_me());
  bool taken = true;
  std::thread([&] { taken = lock.try_lock() || lock.held_by_me(); }).join();
  EXPECT_FALSE(taken) << "it is another thread's";
  lock.unlock();
  EXPECT_TRUE(lock.held()) << "it was taken twice";
  lock.unlock();
  EXPECT_FALSE(lock.held());
  std::thread([&] {
    taken = lock.try_lock();
    lock.unlock();
  }).join();
  EXPECT_TRUE(taken);
}

TEST(recursive_spin_lock, excludes_other_threads) {
  recursive_spin_lock lock;
  int sum = 0;  // the sanitizer says if two write it
  const auto add = [&] {
    for (int i = 0; i < 2000; ++i) {
      const std::lock_guard outer(lock);
      const std::lock_guard inner(lock);
      ++sum;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(add);
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(sum, 6000);
}

}  // namespace
}  // namespace ham::base
