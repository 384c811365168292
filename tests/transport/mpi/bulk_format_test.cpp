// Requests for put and get over MPI: as they travel, what is refused, and tags that never meet.
#include "transport/mpi/bulk_format.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <span>

namespace ham::inline v1::transport::mpi {
namespace {

TEST(mpi_bulk_format, a_request_travels_in_one_byte_order) {
  const bulk_request text = bulk_request::little_endian({1, 2, 0x1122334455667788, 4, 5});
  std::array<unsigned char, sizeof text> wire{};
  std::memcpy(wire.data(), &text, sizeof text);
  EXPECT_EQ(wire[0], 1);
  EXPECT_EQ(wire[8], 2);
  EXPECT_EQ(wire[16], 0x88);
  EXPECT_EQ(wire[23], 0x11);
  const auto back = read_request(std::as_bytes(std::span(wire)));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->verb, 1U);
  EXPECT_EQ(back->id, 2U);
  EXPECT_EQ(back->address, 0x1122334455667788U);
  EXPECT_EQ(back->tag, 4U);
  EXPECT_EQ(back->size, 5U);
}

TEST(mpi_bulk_format, other_lengths_and_verbs_are_no_requests) {
  bulk_request text = bulk_request::little_endian({2, 0, 0, 0, 0});
  const auto bytes = std::as_bytes(std::span(&text, 1));
  EXPECT_TRUE(read_request(bytes));
  EXPECT_FALSE(read_request(bytes.first(bytes.size() - 1)));
  EXPECT_FALSE(read_request({}));
  for (const std::uint64_t verb : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{1} << 32 | 1}) {
    text = bulk_request::little_endian({verb, 0, 0, 0, 0});
    EXPECT_FALSE(read_request(bytes)) << verb;
  }
}

TEST(mpi_bulk_format, answers_that_are_none_count_as_lost) {
  EXPECT_EQ(read_answer(std::byte{0}), access_result::done);
  EXPECT_EQ(read_answer(static_cast<std::byte>(access_result::out_of_range)), access_result::out_of_range);
  for (unsigned value = static_cast<unsigned>(access_result::lost); value < 256; ++value)
    EXPECT_EQ(read_answer(static_cast<std::byte>(value)), access_result::lost) << value;
}

/// What two ranks ask of each other under the same number at the same time.
TEST(mpi_bulk_format, tags_differ_and_are_those_that_mpi_promises) {
  constexpr int largest_tag = 32767;
  std::set<int> used{frame_tag, credit_tag, bulk_request_tag};
  for (std::uint64_t id = 0; id < bulk_tags; ++id) {
    for (const int tag : {data_tag(bulk_verb::put, id), data_tag(bulk_verb::get, id), answer_tag(id)}) {
      EXPECT_TRUE(used.insert(tag).second) << tag;
      EXPECT_LE(tag, largest_tag);
    }
  }
  EXPECT_EQ(data_tag(bulk_verb::get, bulk_tags + 5), data_tag(bulk_verb::get, 5)) << "and then again";
}

}  // namespace
}  // namespace ham::transport::mpi
