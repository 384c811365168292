// Event descriptors, epoll, and how long a wait with either may be.
#include "base/event_fds.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/clock.hpp"
#include "forbidden_calls.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

bool is_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST(event_fds, an_event_is_readable_until_it_is_drained) {
  const unique_fd event = make_event();
  EXPECT_FALSE(is_readable(event.get()));
  drain_event(event.get());  // does not block
  signal_event(event.get());
  signal_event(event.get());
  EXPECT_TRUE(is_readable(event.get()));
  drain_event(event.get());
  EXPECT_FALSE(is_readable(event.get()));
}

/// In a process for which the kernel refuses a call: what make_epoll throws; 2: there are no filters here.
int status_without(long call, const char* name) {
  return test::status_without(call, ENOSYS, name, [] { static_cast<void>(make_epoll()); });
}

TEST(event_fds, epoll_that_nobody_may_use_is_an_error) {
  const int status = status_without(SYS_epoll_ctl, "epoll_ctl");
  if (status == 2) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(status_without(SYS_epoll_create1, "epoll_create1"), 0);
#ifdef SYS_epoll_wait
  EXPECT_EQ(status_without(SYS_epoll_wait, "epoll_wait"), 0);
#else
  EXPECT_EQ(status_without(SYS_epoll_pwait, "epoll_pwait"), 0);
#endif
}

TEST(event_fds, epoll_tells_the_tag_of_what_is_watched) {
  const unique_fd epoll = make_epoll();
  const unique_fd event = make_event();
  int first = 0;
  int second = 0;
  epoll_event told{};
  signal_event(event.get());
  watch(epoll.get(), event.get(), EPOLLIN, &first);
  ASSERT_EQ(::epoll_wait(epoll.get(), &told, 1, 0), 1);
  EXPECT_EQ(told.data.ptr, &first);
  change_watch(epoll.get(), event.get(), EPOLLIN, &second);
  ASSERT_EQ(::epoll_wait(epoll.get(), &told, 1, 0), 1);
  EXPECT_EQ(told.data.ptr, &second);
  unwatch(epoll.get(), event.get());
  EXPECT_EQ(::epoll_wait(epoll.get(), &told, 1, 0), 0);
}

TEST(milliseconds, never_end_early) {
  EXPECT_EQ(milliseconds_until(never_ns), -1);
  EXPECT_EQ(milliseconds_until(0), 1);
  EXPECT_GE(milliseconds_until(now_ns() + 10'000'000'000), 1);
}

}  // namespace
}  // namespace ham::base
