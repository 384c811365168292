#include "core/pool_wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace pool_wait_test {

using ham::detail::help_pool;
using ham::detail::this_thread;
using ham::detail::thread_state;
using ham::msg::thread_pool;

TEST(pool_wait, a_thread_of_no_pool_helps_nobody) {
  thread_pool::waiting scope;
  EXPECT_FALSE(help_pool(scope));
  EXPECT_EQ(this_thread.depth, 0U);
}

/// So many jobs that wait that none can be replaced any more.
TEST(pool_wait, a_thread_that_cannot_be_replaced_executes_what_is_queued_itself) {
  thread_pool pool(1);
  std::atomic<std::size_t> waiting{0};
  std::atomic<bool> queued{false}, helped{false}, at_limit{false}, done{false};
  std::atomic<unsigned> depth{0};
  const auto wait = [&] {
    thread_pool::waiting scope;
    const bool last = waiting.fetch_add(1) == thread_pool::max_spares;
    if (last) {
      while (!queued) std::this_thread::yield();
      this_thread.depth = thread_state::max_depth;
      at_limit = help_pool(scope);  // is asked again, when its stack has unwound
      this_thread.depth = 0;
      EXPECT_FALSE(helped);
      while (!helped && help_pool(scope)) {
      }
      done = true;
    }
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  for (std::size_t i = 0; i <= thread_pool::max_spares; ++i) pool.submit(wait);
  pool.submit([&] {
    depth = this_thread.depth;
    helped = true;
  });
  queued = true;
  while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(helped);
  EXPECT_TRUE(at_limit);
  EXPECT_EQ(depth, 1U) << "one inside of the job that waits";
}

}  // namespace pool_wait_test
