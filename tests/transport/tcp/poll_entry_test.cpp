// Where a socket is listed: not after it was taken out for good, and never after it was closed.
#include "transport/tcp/poll_entry.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/event_fds.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

class poll_entries : public testing::Test {
 protected:
  poll_entries() {
    int both[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
    here_ = base::unique_fd(both[0]);
    there_ = base::unique_fd(both[1]);
    EXPECT_EQ(::send(there_.get(), "x", 1, 0), 1);
  }
  [[nodiscard]] bool listed() const {
    epoll_event event{};
    const int count = ::epoll_wait(epoll_.get(), &event, 1, 0);
    return count == 1 && event.data.ptr == &epoll_;
  }

  base::unique_fd epoll_ = base::make_epoll();
  base::unique_fd here_;
  base::unique_fd there_;
};

TEST_F(poll_entries, come_and_go) {
  poll_entry entry(here_.get(), &epoll_);
  EXPECT_FALSE(listed());
  entry.list_in(epoll_.get());
  EXPECT_TRUE(listed());
  entry.take_out(epoll_.get(), false);
  EXPECT_FALSE(listed());
  entry.list_in(epoll_.get());
  EXPECT_TRUE(listed());
}

TEST_F(poll_entries, stay_out_once_taken_out_for_good) {
  poll_entry entry(here_.get(), &epoll_);
  entry.list_in(epoll_.get());
  entry.take_out(epoll_.get(), true);
  entry.list_in(epoll_.get());
  EXPECT_FALSE(listed());
}

TEST_F(poll_entries, do_not_touch_a_descriptor_that_is_another_file_now) {
  poll_entry entry(here_.get(), &epoll_);
  entry.close();
  poll_entry other(here_.get(), &epoll_);
  other.list_in(epoll_.get());
  entry.take_out(epoll_.get(), true);
  EXPECT_TRUE(listed());
}

}  // namespace
}  // namespace ham::transport::tcp::test
