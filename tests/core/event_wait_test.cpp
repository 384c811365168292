#include "core/event_wait.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <thread>

#include "base/clock.hpp"

namespace ham::inline v1::detail {
namespace {

TEST(event_wait, returns_when_the_time_has_come) {
  event_wait one;
  one.sleep(base::now_ns() - 1'000'000);
  const std::int64_t until = base::now_ns() + 2'000'000;
  one.sleep(until);
  EXPECT_GE(base::now_ns(), until);
}

TEST(event_wait, a_wake_up_ends_the_sleep_that_follows_and_no_further_one) {
  event_wait one;
  one.wake();
  one.wake();
  one.sleep(base::never_ns);  // would hang
  const std::int64_t until = base::now_ns() + 2'000'000;
  one.sleep(until);
  EXPECT_GE(base::now_ns(), until) << "what had woken it was left behind";
}

TEST(event_wait, takes_any_number_of_wake_ups) {
  event_wait one;
  for (int i = 0; i < 100'000; ++i) one.wake();  // more than the pipe holds
  one.sleep(base::never_ns);
}

TEST(event_wait, is_woken_by_another_thread) {
  event_wait one;
  std::thread other([&] { one.wake(); });
  one.sleep(base::never_ns);
  other.join();
}

TEST(event_wait, is_woken_by_a_watched_descriptor) {
  event_wait one;
  const base::unique_fd news(::eventfd(1, EFD_CLOEXEC));
  one.watch(news.get());
  one.sleep(base::never_ns);
  one.sleep(base::never_ns);  // it still is readable: whoever watches it empties it
}

}  // namespace
}  // namespace ham::detail
