// The receive buffer: what is held stays where it is, and there is room for the next frame.
#include "transport/tcp/receive_buffer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <new>
#include <random>

#include "transport/tcp/frame_format.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

TEST(tcp_receive_buffer, a_held_frame_stays_where_it_is_while_more_arrives) {
  receive_buffer buffer;
  const auto fill = [&](std::span<std::byte> room, std::size_t size, int value) {
    ASSERT_GE(room.size(), size);
    std::memset(room.data(), value, size);
    buffer.arrived(size);
  };
  fill(buffer.room(), 1000, 1);
  const std::span<const std::byte> view = buffer.waiting().first(600);
  buffer.hold(600);
  for (int i = 0; i < 30; ++i) fill(buffer.more_room(), 100'000, 2);
  for (const std::byte one : view) ASSERT_EQ(one, std::byte{1});
  ASSERT_EQ(buffer.waiting().size(), 400U + 3'000'000);
  EXPECT_EQ(buffer.waiting()[399], std::byte{1});
  EXPECT_EQ(buffer.waiting()[400], std::byte{2});
  buffer.release();
  EXPECT_EQ(buffer.waiting().back(), std::byte{2});
}

TEST(tcp_receive_buffer, has_room_for_the_largest_frame_whenever_nothing_is_held) {
  receive_buffer buffer;
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t size = std::min<std::size_t>(buffer.room().size(), random() % 200'000);
    ASSERT_GE(buffer.room().size() + buffer.waiting().size(), head_bytes + largest_payload);
    buffer.arrived(size);
    // All but a part of a frame is taken.
    const std::size_t rest = random() % (head_bytes + largest_payload);
    if (buffer.waiting().size() > rest) buffer.skip(buffer.waiting().size() - rest);
    ASSERT_FALSE(buffer.room().empty());
  }
}

TEST(tcp_receive_buffer, keeps_what_it_has_when_it_cannot_grow) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer ends the process when there is no memory";
#endif
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    receive_buffer buffer;
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (std::size_t{16} << 20);
    const rlimit little{bytes, bytes};
    std::size_t arrived = 0;
    const auto grow = [&] {
      const std::span<std::byte> room = buffer.more_room();
      std::memset(room.data(), 7, room.size());
      buffer.arrived(room.size());
      arrived += room.size();
    };
    grow();
    if (::setrlimit(RLIMIT_AS, &little) != 0) ::_exit(2);
    bool failed = false;
    while (!failed && arrived < std::size_t{1} << 30) {
      try {
        grow();
      } catch (const std::bad_alloc&) {
        failed = true;
      }
    }
    const auto here = buffer.waiting();
    const bool whole = here.size() == arrived && here.front() == std::byte{7} && here.back() == std::byte{7};
    ::_exit(failed && whole ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ham::transport::tcp
