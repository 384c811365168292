#include "transport/cuda/thread_barrier.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace ham::inline v1::transport::cuda {
namespace {

TEST(thread_barrier, lets_nobody_go_on_before_all_are_there) {
  constexpr std::uint32_t threads = 4;
  constexpr int rounds = 200;
  thread_barrier barrier(threads);
  const std::atomic<bool> ended{false};
  std::array<int, threads> at{};  // plain: the barrier orders
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (std::uint32_t i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      for (int round = 1; round <= rounds; ++round) {
        at[i] = round;
        barrier.wait(ended);
        for (const int one : at) wrong += one == round ? 0 : 1;
        barrier.wait(ended);
      }
    });
  }
  for (std::thread& one : all) one.join();
  EXPECT_EQ(wrong, 0);
}

TEST(thread_barrier, ends_when_the_device_has_failed) {
  thread_barrier barrier(2);
  std::atomic<bool> ended{false};
  bool thrown = false;
  std::thread waits([&] {
    try {
      barrier.wait(ended);
    } catch (const device_ended&) {
      thrown = true;
    }
  });
  ended = true;
  waits.join();
  EXPECT_TRUE(thrown);
}

}  // namespace
}  // namespace ham::transport::cuda
