// An event that a hostile process has as well: whatever it makes of the descriptor, nobody blocks and no ring is lost.
#include "base/shared_event.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>

#include "base/event_fds.hpp"

namespace ham::inline v1::base {
namespace {

using namespace std::chrono_literals;

bool is_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

class shared_events : public testing::Test {
 protected:
  /// Whether `what` comes back. If not, the thread that hangs in it is freed by `rescue`.
  static bool comes_back(const std::function<void()>& what, const std::function<void()>& rescue) {
    auto done = std::async(std::launch::async, what);
    const bool did = done.wait_for(20s) == std::future_status::ready;
    if (!did) rescue();
    return did;
  }
  /// As a process does that shares the descriptor.
  void make_blocking() const { ASSERT_EQ(::fcntl(event_.get(), F_SETFL, 0), 0); }
  void make_nonblocking() const { ASSERT_EQ(::fcntl(event_.get(), F_SETFL, O_NONBLOCK), 0); }
  void fill() const {
    ASSERT_EQ(::fcntl(event_.get(), F_SETFL, O_NONBLOCK), 0);
    empty();
    ASSERT_EQ(::eventfd_write(event_.get(), UINT64_MAX - 1), 0);
  }
  void empty() const {
    eventfd_t count = 0;
    static_cast<void>(::eventfd_read(event_.get(), &count));
  }

  const unique_fd event_ = make_event();
  shared_event mine_{event_.get()};
};

TEST_F(shared_events, are_readable_from_a_ring_to_the_next_drain) {
  EXPECT_TRUE(mine_.wakes()) << "this is Linux";
  EXPECT_FALSE(is_readable(mine_.fd()));
  mine_.drain();  // does not block
  ring_event(event_.get());
  ring_event(event_.get());
  EXPECT_TRUE(is_readable(mine_.fd()));
  EXPECT_TRUE(is_readable(mine_.fd())) << "asking takes nothing away";
  mine_.drain();
  EXPECT_FALSE(is_readable(mine_.fd()));
  ring_event(event_.get());
  EXPECT_TRUE(is_readable(mine_.fd()));
}

TEST_F(shared_events, end_a_sleep) {
  auto sleeper = std::async(std::launch::async, [this] {
    pollfd one{mine_.fd(), POLLIN, 0};
    return ::poll(&one, 1, 20'000);
  });
  ring_event(event_.get());
  EXPECT_EQ(sleeper.get(), 1);
}

TEST_F(shared_events, that_are_full_and_blocking_stop_nobody) {
  fill();
  mine_.drain();
  make_blocking();
  ASSERT_TRUE(comes_back([this] { ring_event(event_.get()); }, [this] { empty(); })) << "who rings hangs";
  EXPECT_TRUE(is_readable(mine_.fd())) << "the ring is noticed all the same";
  mine_.drain();
  EXPECT_FALSE(is_readable(mine_.fd()));
}

TEST_F(shared_events, that_are_empty_and_blocking_stop_nobody) {
  make_blocking();
  ring_event(event_.get());
  make_nonblocking();
  empty();
  make_blocking();
  EXPECT_TRUE(is_readable(mine_.fd())) << "nobody can take a ring away";
  ASSERT_TRUE(comes_back([this] { mine_.drain(); }, [this] { ring_event(event_.get()); })) << "the owner hangs";
  ASSERT_TRUE(comes_back([this] { mine_.drain(); }, [this] { ring_event(event_.get()); })) << "the owner hangs";
}

}  // namespace
}  // namespace ham::base
