// A runtime that waits in an event loop of the program.
#include "ham/offload/event_fd.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bulk.hpp"
#include "offload/gate.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace event_fd_test {

bool readable(int fd, int timeout_ms = 0) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, timeout_ms) == 1;
}

int twice(int value) { return 2 * value; }
int after(int ms, int value) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return value;
}
int refuse() { throw std::runtime_error("no"); }

/// A loop that does nothing but what HAM asks of it, and gives up only by the clock: a lost wake-up costs 20 s.
template <class Done>
bool run_loop(Done done, std::chrono::milliseconds timeout = 20s) {
  const int fd = offload::event_fd();
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    if (readable(fd, 5'000)) offload::serve_event_fd();
  }
  return true;
}

/// Until it stays quiet.
bool settle_down() {
  const int fd = offload::event_fd();
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (readable(fd, 20)) {
    if (std::chrono::steady_clock::now() > until) return false;
    offload::serve_event_fd();
  }
  return true;
}

class event_fd : public two_targets {};

TEST_F(event_fd, is_one_descriptor_and_readable_at_first) {
  EXPECT_EQ(offload::event_fd(), offload::event_fd());
  EXPECT_TRUE(readable(offload::event_fd()));
}

TEST_F(event_fd, is_quiet_while_nothing_happens) {
  offload::sync(1, fn<&twice>, 1);
  ASSERT_TRUE(settle_down());
  EXPECT_FALSE(readable(offload::event_fd()));
}

TEST_F(event_fd, is_readable_when_a_result_has_come) {
  ASSERT_TRUE(settle_down());
  auto result = offload::async(1, fn<&after>, 30, 7);
  ASSERT_TRUE(readable(offload::event_fd(), 10'000));
  EXPECT_TRUE(run_loop([&] { return result.test(); }));
  EXPECT_EQ(result.get(), 7);
}

TEST_F(event_fd, on_ready_runs_for_values_and_errors_and_leaves_the_future) {
  int ready = 0;
  auto value = offload::async(1, fn<&twice>, 21);
  auto error = offload::async(2, fn<&refuse>);
  value.on_ready([&] { ++ready; });
  error.on_ready([&] { ++ready; });
  EXPECT_TRUE(run_loop([&] { return ready == 2; }));
  EXPECT_EQ(value.get(), 42);
  EXPECT_THROW(error.get(), std::runtime_error);
  value = offload::make_ready_future<int>(1);
  value.on_ready([&] { ++ready; });
  EXPECT_EQ(ready, 3) << "of a future that has settled, at once";
  EXPECT_THROW(offload::future<int>().on_ready([] {}), ham::error);
}

TEST_F(event_fd, on_ready_runs_for_futures_that_were_let_go) {
  int ready = 0;
  auto value = offload::async(1, fn<&after>, 30, 1);
  value.on_ready([&] { ++ready; });
  value.on_ready([&] { ++ready; });
  value.detach();
  EXPECT_TRUE(run_loop([&] { return ready == 2; }));
}

TEST_F(event_fd, no_wake_up_is_lost_in_many_turns) {
  constexpr int calls = unless_sanitized(20'000, 5'000);
  int done = 0;
  std::function<void()> next = [&] {
    offload::async(1 + done % 2, fn<&twice>, done).on_result([&](offload::future<int> result) {
      EXPECT_EQ(result.get(), 2 * done);
      if (++done < calls) next();
    });
  };
  next();
  EXPECT_TRUE(run_loop([&] { return done == calls; }, 60s));
}

TEST_F(event_fd, deadlines_are_met_while_the_loop_sleeps) {
  ASSERT_TRUE(settle_down());
  const auto begin = std::chrono::steady_clock::now();
  closed_gate gate;
  auto late = offload::async(offload::within(1, 30ms), fn<&held>, 1);
  bool settled = false;
  late.on_ready([&] { settled = true; });
  EXPECT_TRUE(run_loop([&] { return settled; }));
  gate.open();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
  EXPECT_THROW(late.get(), deadline_exceeded);
}

TEST_F(event_fd, blocking_calls_within_the_loop_do_not_silence_it) {
  for (int i = 0; i < 100; ++i) {
    bool settled = false;
    offload::async(1, fn<&after>, i % 3, i).on_result([&](auto result) { settled = result.has_value(); });
    EXPECT_EQ(offload::sync(2, fn<&twice>, i), 2 * i);  // may end the node's sleep
    ASSERT_TRUE(run_loop([&] { return settled; })) << i;
  }
}

TEST_F(event_fd, what_another_thread_settles_makes_it_readable) {
  ASSERT_TRUE(settle_down());
  std::atomic<bool> stop{false};
  std::thread other([&] {  // makes progress all the time, now asleep, now polling
    for (int i = 0; !stop; ++i) {
      EXPECT_EQ(offload::sync(2, fn<&twice>, i), 2 * i);
      if (i % 100 == 0) {
        EXPECT_EQ(offload::sync(2, fn<&after>, 2, i), i);
      }
    }
  });
  for (int i = 0; i < 1'000; ++i) {
    std::atomic<bool> settled{false};
    offload::async(1, fn<&twice>, i).on_result([&](auto result) {
      EXPECT_EQ(result.get(), 2 * i);
      settled = true;
    });
    if (!run_loop([&] { return settled.load(); })) {
      ADD_FAILURE() << "lost in round " << i;
      break;
    }
  }
  stop = true;
  other.join();
}

TEST_F(event_fd, the_loop_takes_over_when_another_thread_has_gone) {
  for (int i = 0; i < 200; ++i) {
    auto late = offload::async(1, fn<&after>, 3, i);
    std::atomic<bool> settled{false};  // whichever thread makes progress sets it
    late.on_ready([&] { settled = true; });
    std::thread other([&] { EXPECT_EQ(offload::sync(2, fn<&twice>, i), 2 * i); });
    const bool in_time = run_loop([&] { return settled.load(); });
    other.join();
    ASSERT_TRUE(in_time) << i;
    EXPECT_EQ(late.get(), i);
  }
}

TEST_F(event_fd, works_by_edge) {
  const int loop = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event interest{EPOLLIN | EPOLLET, {}};
  ASSERT_EQ(::epoll_ctl(loop, EPOLL_CTL_ADD, offload::event_fd(), &interest), 0);
  for (int i = 0; i < 2'000; ++i) {
    bool settled = false;
    offload::async(1, fn<&twice>, i).on_result([&](auto result) { settled = result.has_value(); });
    while (!settled) {
      epoll_event event{};
      ASSERT_EQ(::epoll_wait(loop, &event, 1, 10'000), 1) << "no edge in round " << i;
      offload::serve_event_fd();
    }
  }
  ::close(loop);
}

TEST(event_fd_without_a_runtime, is_an_error) {
  EXPECT_THROW((void)offload::event_fd(), config_error);
  EXPECT_THROW(offload::serve_event_fd(), config_error);
}

}  // namespace event_fd_test
