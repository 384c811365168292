// Calls and results of a batch, as they lie in messages.
#include "core/batch_records.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ham::inline v1::detail {
namespace {

std::vector<std::byte> words(std::initializer_list<std::uint32_t> values, std::size_t behind) {
  std::vector<std::byte> bytes(4 * values.size() + behind, std::byte{0xee});
  std::size_t at = 0;
  for (const std::uint32_t value : values) {
    msg::detail::store_little(bytes.data() + at, value);
    at += 4;
  }
  return bytes;
}

TEST(batch_records, a_record_ends_where_the_next_begins) {
  const auto bytes = words({7, 9, 5}, 20);
  const batch_record record(bytes);
  EXPECT_EQ(record.key, 7U);
  EXPECT_EQ(record.call, 9U);
  EXPECT_EQ(record.arguments.size(), 5U);
  EXPECT_EQ(record.arguments.data(), bytes.data() + record_head_bytes);
  EXPECT_EQ(record.size(), record_head_bytes + 5);
}

TEST(batch_records, a_result_is_a_value_or_an_error) {
  const auto value = words({3, 4}, 4);
  ASSERT_TRUE(batch_result::complete(value));
  EXPECT_EQ(batch_result(value).call, 3U);
  EXPECT_FALSE(batch_result(value).failed);
  EXPECT_EQ(batch_result(value).size(), value.size());
  const auto error = words({3, failed_bit | 4}, 4);
  ASSERT_TRUE(batch_result::complete(error));
  EXPECT_TRUE(batch_result(error).failed);
  EXPECT_EQ(batch_result(error).bytes.size(), 4U);
}

TEST(batch_records, a_result_that_is_cut_is_not_complete) {
  const auto batch = words({3, 4}, 4);
  for (std::size_t size = 0; size < batch.size(); ++size)
    EXPECT_FALSE(batch_result::complete(std::span(batch).first(size))) << size;
  EXPECT_FALSE(batch_result::complete(words({3, 0x7fffffff}, 100)));
  EXPECT_TRUE(batch_result::complete(words({3, failed_bit}, 0)));
}

}  // namespace
}  // namespace ham::detail
