// An endpoint that nobody wakes says once that it was used, and why its peer is gone.
#include "transport/common/polled_endpoint.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "transport/common/idle_endpoint.hpp"

namespace ham::inline v1::transport {
namespace {

class used_endpoint final : public test::idle_endpoint_of<polled_endpoint> {
 public:
  using idle_endpoint_of::idle_endpoint_of;
  using polled_endpoint::set_active;
  [[nodiscard]] bool empty() const noexcept override { return true; }
  [[nodiscard]] bool malformed() const noexcept override { return false; }
  [[nodiscard]] bool failed() const noexcept override { return true; }
};

TEST(polled_endpoint, says_once_that_something_was_sent) {
  used_endpoint one(1);
  EXPECT_FALSE(one.take_active());
  one.set_active();
  one.set_active();
  EXPECT_TRUE(one.take_active());
  EXPECT_FALSE(one.take_active());
}

TEST(polled_endpoint, misses_nothing_that_another_thread_sends) {
  used_endpoint one(1);
  std::atomic<int> sent{0};
  std::thread sender([&] {
    for (int i = 1; i <= 200; ++i) {
      one.set_active();
      sent.store(i);
      while (sent.load() == i) std::this_thread::yield();
    }
  });
  for (int i = 1; i <= 200; ++i) {
    while (sent.load() != i) std::this_thread::yield();
    EXPECT_TRUE(one.take_active()) << i;
    EXPECT_FALSE(one.take_active()) << i;
    sent.store(-i);
  }
  sender.join();
}

TEST(polled_endpoint, has_a_text_that_completes_a_sentence) {
  const used_endpoint one(3);
  EXPECT_EQ("node 3 failed: " + one.failure(), "node 3 failed: its memory cannot be reached any more");
}

}  // namespace
}  // namespace ham::transport
