// The files that forwarded system calls write and read, and that lines of output are appended to.
#include "forwarded_calls/file_calls.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using forwarded_calls::file;

TEST(forwarded_calls_file, what_was_written_is_read) {
  const file one;
  std::vector<std::byte> bytes(5000);
  EXPECT_FALSE(forwarded_calls::is_pattern(bytes));
  forwarded_calls::fill(bytes);
  EXPECT_TRUE(forwarded_calls::is_pattern(bytes));
  one.write(bytes);
  std::vector<std::byte> back(5000);
  one.read(back);
  EXPECT_EQ(back, bytes);
  back[4999] ^= std::byte{1};
  EXPECT_FALSE(forwarded_calls::is_pattern(back));
}

TEST(forwarded_calls_file, its_end_is_an_error) {
  const file one;
  std::vector<std::byte> bytes(10);
  one.write(bytes);
  bytes.resize(11);
  EXPECT_THROW(one.read(bytes), std::runtime_error);
}

TEST(forwarded_calls_output, lines_are_there_however_they_were_appended) {
  const forwarded_calls::output_file one;
  const std::string line = forwarded_calls::line_of(40);
  EXPECT_EQ(line.size(), 40U);
  EXPECT_EQ(line.find('\n'), 39U);
  EXPECT_TRUE(one.holds(40, 0));
  one.append(line);
  one.append_line(line.substr(0, 39));
  EXPECT_TRUE(one.holds(40, 2));
  one.clear();
  EXPECT_TRUE(one.holds(40, 0));
}

TEST(forwarded_calls_output, lost_and_changed_lines_are_noticed) {
  const forwarded_calls::output_file one;
  const std::string line = forwarded_calls::line_of(8);
  one.append(line);
  EXPECT_FALSE(one.holds(8, 2));
  EXPECT_FALSE(one.holds(8, 0));
  one.append("abcdefx\n");
  EXPECT_FALSE(one.holds(8, 2));
}

TEST(forwarded_calls_output, a_line_of_one_byte_is_a_newline) {
  const forwarded_calls::output_file one;
  one.append_line("");
  EXPECT_TRUE(one.holds(1, 1));
}

}  // namespace
