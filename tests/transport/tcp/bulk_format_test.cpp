// Requests for memory on the wire: round trips, and everything that must be refused.
#include "transport/tcp/bulk_format.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ham::inline v1::transport::tcp {
namespace {

TEST(tcp_bulk_format, round_trip_and_refusals) {
  std::array<std::byte, bulk_request::bytes> bytes;
  store_request(bytes.data(), {bulk_verb::get, 1, ~0ULL, 3});
  bulk_request out;
  ASSERT_TRUE(read_request(bytes, out));
  EXPECT_EQ(out.verb, bulk_verb::get);
  EXPECT_EQ(out.address, 1U);
  EXPECT_EQ(out.tag, ~0ULL);
  EXPECT_EQ(out.size, 3U);
  bytes[4] = std::byte{4};
  EXPECT_FALSE(read_request(bytes, out));
  bytes[4] = std::byte{0};
  EXPECT_FALSE(read_request(bytes, out));
  std::array<std::byte, answer_bytes> answer;
  store_answer(answer.data(), bulk_answer::out_of_range);
  bulk_answer said{};
  ASSERT_TRUE(read_answer(answer, said));
  EXPECT_EQ(said, bulk_answer::out_of_range);
  answer[4] = std::byte{4};
  EXPECT_FALSE(read_answer(answer, said));
  answer[0] = std::byte{0};
  EXPECT_FALSE(read_answer(answer, said));
}

}  // namespace
}  // namespace ham::transport::tcp
