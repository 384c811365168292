// Execution policies: direct, pooled, and one that a user wrote.
#include "ham/msg/execution_policy.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "ham/msg/active_msg.hpp"
#include "ham/msg/thread_pool.hpp"

namespace {

using namespace ham::msg;

std::atomic<int> sum{0};
std::thread::id ran_on;

struct direct_message : active_msg<direct_message> {
  void operator()() { ran_on = std::this_thread::get_id(); }
};

struct pooled_message : active_msg<pooled_message, execution_policy_pooled> {
  explicit pooled_message(int v) : value(v) {}
  void operator()() {
    ran_on = std::this_thread::get_id();
    sum += value;
  }
  int value;
};

/// Collects messages, and runs them when asked: a policy as an event loop would bring along.
std::deque<std::function<void()>> waiting;
template <class Message>
struct deferring_policy {
  static void handler(void* buffer) { waiting.emplace_back(*static_cast<Message*>(buffer)); }
};

struct deferred_message : active_msg<deferred_message, deferring_policy> {
  explicit deferred_message(int v) : value(v) {}
  void operator()() { sum += value; }
  int value;
};

template <class Message>
void deliver(const Message& message) {
  alignas(Message) std::byte buffer[sizeof(Message)];
  std::memcpy(buffer, static_cast<const void*>(&message), sizeof message);
  (*reinterpret_cast<active_msg_base*>(buffer))(buffer);
  std::memset(buffer, 0xee, sizeof buffer);  // the receiver reuses its buffer at once
}

TEST(ExecutionPolicy, DirectRunsInTheReceivingThread) {
  deliver(direct_message());
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(ExecutionPolicy, PooledRunsCopiesElsewhere) {
  sum = 0;
  for (int i = 1; i <= 100; ++i) {
    deliver(pooled_message(i));
    if (i == 1) {
      thread_pool::process().shutdown();
      EXPECT_NE(ran_on, std::this_thread::get_id());
      thread_pool::process().resize(1);  // one thread: ran_on is not written by two
    }
  }
  thread_pool::process().shutdown();
  EXPECT_EQ(sum, 5050);
}

TEST(ExecutionPolicy, AUsersPolicyDecidesWhen) {
  sum = 0;
  deliver(deferred_message(3));
  deliver(deferred_message(4));
  EXPECT_EQ(sum, 0);
  for (auto& message : waiting) message();
  waiting.clear();
  EXPECT_EQ(sum, 7);
}

}  // namespace
