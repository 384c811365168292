// Messages with descriptors between two processes of one machine.
#include "base/control_socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/closed_descriptor.hpp"
#include "base/memory_file.hpp"
#include "forbidden_calls.hpp"
#include "ham/error.hpp"

namespace ham::base {
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

}  // namespace
}  // namespace ham::base
