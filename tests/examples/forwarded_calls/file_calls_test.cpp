// The file that forwarded system calls write and read.
#include "forwarded_calls/file_calls.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
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

}  // namespace
