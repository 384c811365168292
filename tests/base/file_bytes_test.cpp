#include "base/file_bytes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_file.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::base {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(file_bytes, are_read_from_a_place_on_up_to_the_end) {
  const unique_fd file = make_memory_file("test", 0);
  ASSERT_EQ(write_bytes(file.get(), "0123456789"), 0);
  std::array<std::byte, 4> some{};
  EXPECT_EQ(read_bytes(file.get(), some, 3), some.size());
  EXPECT_EQ(text_of(some), "3456");
  EXPECT_EQ(read_bytes(file.get(), some, 8), 2U);
  EXPECT_EQ(text_of(std::span(some).first(2)), "89");
  EXPECT_EQ(read_bytes(file.get(), some, 100), 0U);
}

TEST(file_bytes, of_what_cannot_be_read_are_none) {
  std::array<std::byte, 4> some{};
  errno = 0;
  EXPECT_EQ(read_bytes(-1, some, 0), 0U);
  EXPECT_EQ(errno, EBADF);
}

TEST(file_bytes, wait_for_room_in_a_pipe_that_does_not_block) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const unique_fd from(ends[0]);
  unique_fd to(ends[1]);
  ::fcntl(to.get(), F_SETFL, O_NONBLOCK);
  const std::string much(1 << 20, 'x');
  std::string got;
  std::thread reader([&] {
    std::vector<char> piece(1 << 16);
    for (ssize_t count = 0; (count = ::read(from.get(), piece.data(), piece.size())) > 0;)
      got.append(piece.data(), static_cast<std::size_t>(count));
  });
  EXPECT_EQ(write_bytes(to.get(), much), 0);
  to.reset();
  reader.join();
  EXPECT_EQ(got, much);
}

TEST(file_bytes, say_why_they_cannot_be_written) {
  EXPECT_EQ(write_bytes(-1, "some"), EBADF);
  EXPECT_EQ(write_bytes(-1, ""), 0);
  const unique_fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(write_bytes(full.get(), "some"), ENOSPC);
}

}  // namespace
}  // namespace ham::base
