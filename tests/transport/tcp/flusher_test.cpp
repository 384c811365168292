// The thread that sends what was gathered: it works while something waits, sleeps else, and no wake-up is lost.
#include "transport/tcp/flusher.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

using found = flusher::found;

/// Work that comes from outside, and how often it was asked for.
struct gathered {
  std::atomic<int> waiting{0};
  std::atomic<bool> owed{false};
  std::atomic<int> rounds{0};
  std::atomic<int> long_rounds{0};

  [[nodiscard]] flusher::round work() {
    return [this](bool long_round) {
      ++rounds;
      if (long_round) {
        ++long_rounds;
        owed = false;
      }
      if (waiting.load() > 0) {
        --waiting;
        return found::bytes_waiting;
      }
      return owed.load() ? found::something_owed : found::nothing;
    };
  }
  /// Until nothing has been asked for a while.
  void await_sleep() const {
    int before = -1;
    while (before != rounds.load()) {
      before = rounds.load();
      std::this_thread::sleep_for(20ms);
    }
  }
};

TEST(tcp_flusher, works_until_nothing_waits_and_sleeps_then) {
  gathered all;
  all.waiting = 20;
  flusher one;
  one.start(all.work());
  EXPECT_TRUE(eventually([&] { return all.waiting.load() == 0; }));
  const auto nothing_happens = [&] {
    const int before = all.rounds.load();
    std::this_thread::sleep_for(30ms);
    return all.rounds.load() == before;
  };
  EXPECT_TRUE(eventually(nothing_happens)) << "it costs something while there is nothing";
}

TEST(tcp_flusher, is_woken_whenever_something_waits) {
  gathered all;
  flusher one;
  one.start(all.work());
  for (int i = 0; i < 100; ++i) {
    if (i % 10 == 0) all.await_sleep();
    all.waiting = 1;
    one.schedule_flush();
    ASSERT_TRUE(eventually([&] { return all.waiting.load() == 0; })) << i;
  }
}

TEST(tcp_flusher, sees_to_what_is_owed_in_a_long_round) {
  gathered all;
  flusher one;
  one.start(all.work());
  for (int i = 0; i < 10; ++i) {
    all.await_sleep();
    all.owed = true;
    one.schedule_ack();
    ASSERT_TRUE(eventually([&] { return !all.owed.load(); })) << i;
  }
  EXPECT_GT(all.long_rounds.load(), 0);
}

TEST(tcp_flusher, ends_when_it_is_told_whether_it_sleeps_or_works) {
  gathered all;
  flusher asleep;
  asleep.start(all.work());
  all.await_sleep();
  asleep.stop();
  asleep.stop();
  all.waiting = 1 << 30;
  flusher working;
  working.start(all.work());
  ASSERT_TRUE(eventually([&] { return all.waiting.load() < (1 << 30) - 2; }));
  working.stop();
  const int after = all.rounds.load();
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(all.rounds.load(), after);
  const flusher never_started;
}

}  // namespace
}  // namespace ham::transport::tcp::test
