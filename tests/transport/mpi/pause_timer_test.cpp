// Pauses between polls: they grow up to their limit, begin anew, and end when somebody wakes.
#include "transport/mpi/pause_timer.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <thread>

namespace ham::inline v1::transport::mpi {
namespace {

constexpr std::int64_t hour_ns = 3'600'000'000'000;

/// What is left of the pause that runs; 0: none does.
std::int64_t left_ns(const pause_timer& of) {
  itimerspec left{};
  EXPECT_EQ(::timerfd_gettime(of.fd(), &left), 0);
  return left.it_value.tv_sec * 1'000'000'000 + left.it_value.tv_nsec;
}
bool ends(const pause_timer& of) {
  pollfd waiting{of.fd(), POLLIN, 0};
  return ::poll(&waiting, 1, 60'000) == 1;
}

TEST(pause_timer, a_pause_ends_by_itself) {
  pause_timer timer(2'000'000);
  for (int i = 0; i < 10; ++i) {
    timer.start();
    ASSERT_TRUE(ends(timer)) << i;
  }
}

TEST(pause_timer, pauses_grow_and_are_short_again_when_something_came) {
  pause_timer timer(hour_ns);
  for (int i = 0; i < 40; ++i) timer.start();  // each ends the one before
  EXPECT_GT(left_ns(timer), hour_ns / 2);
  EXPECT_LE(left_ns(timer), hour_ns) << "the limit";
  timer.reset();
  timer.start();
  EXPECT_LE(left_ns(timer), 50'000);
  EXPECT_TRUE(ends(timer));
}

TEST(pause_timer, no_pause_is_longer_than_the_limit) {
  pause_timer timer(1);
  timer.start();
  EXPECT_LE(left_ns(timer), 1);
  EXPECT_TRUE(ends(timer));
}

TEST(pause_timer, who_wakes_ends_the_pause) {
  pause_timer timer(hour_ns);
  for (int i = 0; i < 40; ++i) timer.start();
  std::thread other([&] { timer.wake(); });
  EXPECT_TRUE(ends(timer));
  other.join();
}

TEST(pause_timer, who_woke_before_the_pause_ends_it_too) {
  pause_timer timer(hour_ns);
  for (int i = 0; i < 40; ++i) timer.start();
  timer.wake();
  timer.start();
  EXPECT_TRUE(ends(timer)) << "the wake-up was lost";
  timer.start();
  EXPECT_GT(left_ns(timer), hour_ns / 2) << "it ends one pause";
}

TEST(pause_timer, a_wake_up_before_the_stop_means_nothing_after_it) {
  pause_timer timer(hour_ns);
  for (int i = 0; i < 40; ++i) timer.start();
  timer.wake();
  timer.stop();
  timer.start();
  EXPECT_GT(left_ns(timer), hour_ns / 2);
}

}  // namespace
}  // namespace ham::transport::mpi
