// A blocking socket: waits, awake or asleep, is not interrupted, and sees the end of its connection.
#include "transport/tcp/patient_socket.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <thread>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

using waiting = patient_socket::waiting;

class patient_sockets : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ends_.first && ends_.second);
    make_blocking(ends_.first.get());
    make_blocking(ends_.second.get());
    here_.attach(ends_.first.get());
    there_.attach(ends_.second.get());
  }
  base::unique_fd listening_ = listen_at({"127.0.0.1", "0"}, true);
  std::pair<base::unique_fd, base::unique_fd> ends_ = connected_to(listening_.get());
  patient_socket here_;
  patient_socket there_;
};

TEST(patient_socket, is_attached_to_one_or_to_none) {
  patient_socket one;
  EXPECT_FALSE(one.attached());
  one.attach(0);
  EXPECT_TRUE(one.attached());
  one.attach(-1);
  EXPECT_FALSE(one.attached());
}

TEST(patient_socket, who_waits_for_little_sleeps) {
  std::array<std::byte, 2048> room{};
  EXPECT_EQ(patient_socket::how_to_wait_for(std::span(room).first(2047)), waiting::asleep);
  EXPECT_EQ(patient_socket::how_to_wait_for(room), waiting::awake_at_first);
}

TEST_F(patient_sockets, send_both_parts_in_their_order) {
  const bytes first = pattern(100);
  const bytes second = pattern(33);
  EXPECT_EQ(here_.send(first, second), 133);
  EXPECT_EQ(here_.send({}, first), 100);
  bytes expected = first;
  expected.insert(expected.end(), second.begin(), second.end());
  expected.insert(expected.end(), first.begin(), first.end());
  bytes found;
  while (found.size() < expected.size()) {
    std::array<std::byte, 50> room{};
    const ssize_t got = there_.receive(room, waiting::awake_at_first);
    ASSERT_GT(got, 0);
    found.insert(found.end(), room.begin(), room.begin() + got);
  }
  EXPECT_EQ(found, expected);
}

TEST_F(patient_sockets, what_may_wait_goes_with_what_follows) {
  const bytes piece = pattern(10);
  ASSERT_EQ(here_.send(piece, {}, patient_socket::rest::waits), 10);
  ASSERT_EQ(here_.send(piece), 10);
  std::size_t found = 0;
  while (found < 20) {
    std::array<std::byte, 50> room{};
    const ssize_t got = there_.receive(room, waiting::asleep);
    ASSERT_GT(got, 0);
    found += static_cast<std::size_t>(got);
  }
  EXPECT_EQ(found, 20U);
}

TEST_F(patient_sockets, wait_until_something_comes_either_way) {
  for (const waiting how : {waiting::asleep, waiting::awake_at_first, waiting::awake_at_first}) {
    std::thread sender([&] {
      std::this_thread::sleep_for(2ms);  // longer than it stays awake
      EXPECT_EQ(there_.send(pattern(5)), 5);
    });
    std::array<std::byte, 5> room{};
    EXPECT_EQ(here_.receive(room, how), 5);
    sender.join();
  }
}

TEST_F(patient_sockets, tell_the_end_of_the_connection) {
  ends_.second.reset();
  std::array<std::byte, 5> room{};
  EXPECT_EQ(here_.receive(room, waiting::asleep), 0);
  EXPECT_EQ(here_.receive(room, waiting::awake_at_first), 0);
  // The first one makes the other end say that nobody is there; none raises SIGPIPE.
  ssize_t sent = 0;
  EXPECT_TRUE(eventually([&] { return (sent = here_.send(pattern(5))) < 0; }));
  EXPECT_TRUE(errno == EPIPE || errno == ECONNRESET) << errno;
  here_.send_now(pattern(5));
}

TEST_F(patient_sockets, send_now_what_the_kernel_takes_and_no_more) {
  const bytes much = pattern(std::size_t{64} << 20);
  here_.send_now(much);  // would block for ever: nobody reads
  std::size_t found = 0;
  std::array<std::byte, 65536> room{};
  while (there_.receive(room, waiting::asleep) > 0) {
    found += room.size();
    pollfd looked_at{ends_.second.get(), POLLIN, 0};
    if (::poll(&looked_at, 1, 100) == 0) break;
  }
  EXPECT_LT(found, much.size());
}

std::atomic<int> signals{0};

TEST_F(patient_sockets, are_not_interrupted_by_signals) {
  struct sigaction counting {};
  counting.sa_handler = [](int) { ++signals; };  // without SA_RESTART
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGUSR1, &counting, &before), 0);
  const int earlier = signals.load();
  ssize_t got = 0;
  std::array<std::byte, 8> room{};
  std::thread receiver([&] { got = here_.receive(room, waiting::asleep); });
  while (signals.load() - earlier < 5) {
    ::pthread_kill(receiver.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(there_.send(pattern(8)), 8);
  receiver.join();
  EXPECT_EQ(got, 8);
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

}  // namespace
}  // namespace ham::transport::tcp::test
