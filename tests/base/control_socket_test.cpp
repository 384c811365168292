// Messages with descriptors between two processes of one machine.
#include "base/control_socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/closed_descriptor.hpp"
#include "base/memory_file.hpp"
#include "forbidden_calls.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

std::span<const std::byte> bytes_of(const char* text) {
  return {reinterpret_cast<const std::byte*>(text), std::strlen(text)};
}

TEST(control_socket, messages_and_descriptors) {
  auto [one, other] = make_control_pair();
  const unique_fd file = make_memory_file("test", 4096);
  bool closed = true;
  EXPECT_FALSE(receive_control(other.get(), false, closed));
  EXPECT_FALSE(closed);
  const int fds[] = {file.get(), file.get()};
  ASSERT_TRUE(send_control(one.get(), bytes_of("first"), fds));
  ASSERT_TRUE(send_control(one.get(), bytes_of("second message"), {}));
  const auto first = receive_control(other.get(), true, closed);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes.size(), 5U);
  ASSERT_EQ(first->fds.size(), 2U);
  EXPECT_NE(first->fds[0].get(), file.get());
  EXPECT_NE(::fcntl(first->fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(file_size(first->fds[1].get()), 4096U);
  const auto second = receive_control(other.get(), true, closed);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->bytes.size(), 14U);
  EXPECT_TRUE(second->fds.empty());
}

TEST(control_socket, asks_who_sends_also_without_standard_descriptors) {
  int asked[2] = {0, 0};
  {
    const test::closed_descriptor in(STDIN_FILENO);
    const auto [one, other] = make_control_pair();
    socklen_t size = sizeof(int);
    ::getsockopt(one.get(), SOL_SOCKET, SO_PASSCRED, &asked[0], &size);
    ::getsockopt(other.get(), SOL_SOCKET, SO_PASSCRED, &asked[1], &size);
  }
  EXPECT_EQ(asked[0], 1);
  EXPECT_EQ(asked[1], 1);
}

TEST(control_socket, the_end) {
  auto [one, other] = make_control_pair();
  ASSERT_TRUE(send_control(one.get(), bytes_of("last"), {}));
  one.reset();
  bool closed = false;
  EXPECT_TRUE(receive_control(other.get(), true, closed)) << "what was sent before still arrives";
  EXPECT_FALSE(receive_control(other.get(), true, closed));
  EXPECT_TRUE(closed);
  EXPECT_FALSE(send_control(other.get(), bytes_of("nobody"), {})) << "no SIGPIPE";
}

/// A connection with a reader that does not read: its last close waits for what was written.
class lingering_connection {
 public:
  lingering_connection() {
    const unique_fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    writes.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const bool made = ::bind(listener.get(), address, sizeof at) == 0 && ::listen(listener.get(), 1) == 0 &&
                      ::getsockname(listener.get(), address, &length) == 0 &&
                      ::connect(writes.get(), address, length) == 0;
    reads_.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const linger for_long{1, 20};
    ::setsockopt(writes.get(), SOL_SOCKET, SO_LINGER, &for_long, sizeof for_long);
    const std::vector<char> much(std::size_t{64} << 20);
    usable = made && ::send(writes.get(), much.data(), much.size(), MSG_DONTWAIT) > 0;
  }

  unique_fd writes;
  bool usable = false;

 private:
  unique_fd reads_;
};

TEST(control_socket, tells_of_descriptors_before_they_are_received) {
  auto [one, other] = make_control_pair();
  EXPECT_FALSE(next_control_has_fds(other.get())) << "there is nothing";
  const int fds[] = {one.get()};
  ASSERT_TRUE(send_control(one.get(), bytes_of("nothing"), {}));
  ASSERT_TRUE(send_control(one.get(), bytes_of("one"), fds));
  EXPECT_FALSE(next_control_has_fds(other.get()));
  bool closed = false;
  const auto first = receive_control(other.get(), false, closed);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes.size(), 7U) << "the message is still there";
  EXPECT_EQ(first->sender_pid, ::getpid());
  EXPECT_TRUE(next_control_has_fds(other.get()));
  EXPECT_TRUE(next_control_has_fds(other.get()));
  const auto second = receive_control(other.get(), false, closed);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->fds.size(), 1U);
  one.reset();
  EXPECT_FALSE(next_control_has_fds(other.get())) << "at the end";
}

TEST(control_socket, is_abandoned_without_waiting_for_what_is_in_it) {
  auto [one, other] = make_control_pair();
  lingering_connection last;
  if (!last.usable) GTEST_SKIP() << "no connection";
  const int fds[] = {last.writes.get()};
  ASSERT_TRUE(send_control(one.get(), bytes_of("close this"), fds));
  last.writes.reset();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(next_control_has_fds(other.get()));
  abandon_control(std::move(other));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace ham::base
