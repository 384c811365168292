// A lock with a thread that it costs next to nothing.
#include "base/biased_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace ham::inline v1::base {
namespace {

using namespace std::chrono_literals;

TEST(biased_lock, of_one_thread) {
  biased_lock lock;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(lock.try_lock());
    ASSERT_FALSE(lock.try_lock()) << "it is not recursive";
    lock.unlock();
  }
}

TEST(biased_lock, excludes_the_others_from_the_first_moment_on) {
  for (int round = 0; round < 200; ++round) {
    biased_lock lock;
    long counter = 0;
    int inside = 0;
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int k = 0; k < 500; ++k) {
          if (i % 2 == 0 || !lock.try_lock()) lock.lock();
          if (++inside != 1) wrong = true;
          counter = counter + 1;
          --inside;
          lock.unlock();
        }
      });
    }
    for (auto& one : threads) one.join();
    ASSERT_FALSE(wrong.load());
    ASSERT_EQ(counter, 2000);
  }
}

TEST(biased_lock, the_owner_loses_its_bias_while_it_holds) {
  for (int round = 0; round < 200; ++round) {
    biased_lock lock;
    lock.lock();
    lock.unlock();
    lock.lock();  // by the bias
    std::atomic<bool> got{false};
    std::thread other([&] {
      lock.lock();
      got = true;
      lock.unlock();
    });
    if (round % 2 == 0) std::this_thread::sleep_for(100us);
    ASSERT_FALSE(got.load());
    lock.unlock();
    other.join();
    ASSERT_TRUE(lock.try_lock());
    lock.unlock();
  }
}

}  // namespace
}  // namespace ham::base
