// Frames inside of frames, and what they cost.
#include "core/relay_frame.hpp"

#include <gtest/gtest.h>

#include "core/credit.hpp"

namespace relay_frame_test {

using namespace ham;
using detail::to_byte;
using detail::wire_kind;
using bytes = std::vector<std::byte>;

TEST(relay_frame, is_of_a_kind_that_there_is_and_not_one_inside_of_another) {
  const bytes prefix(detail::relay_head_bytes);
  EXPECT_TRUE(detail::is_relayed_frame(to_byte(wire_kind::call), prefix));
  EXPECT_TRUE(detail::is_relayed_frame(to_byte(wire_kind::goodbye), prefix));
  for (const std::uint32_t none : {0U, to_byte(wire_kind::relay) + 0U, 0x7fU, 0xffU, detail::relay_credit, 0x10000001U})
    EXPECT_FALSE(detail::is_relayed_frame(none, prefix)) << none;
}

TEST(relay_frame, has_its_prefix) {
  EXPECT_FALSE(detail::is_relayed_frame(to_byte(wire_kind::call), bytes(detail::relay_head_bytes - 1)));
}

TEST(relay_frame, begins_with_its_sender) {
  EXPECT_EQ(detail::sender_of_relayed(test::of_sender(77, {})), 77);
  EXPECT_THROW((void)detail::sender_of_relayed(bytes(7)), protocol_error);
  EXPECT_THROW((void)detail::sender_of_relayed(test::of_sender(0x80000000U, {})), protocol_error);
  bytes longer = test::of_sender(7, {});
  longer[5] = std::byte{1};
  EXPECT_THROW((void)detail::sender_of_relayed(longer), protocol_error);
  bytes written(detail::relay_sender_bytes);
  detail::write_relay_sender(written.data(), 300);
  EXPECT_EQ(written, test::of_sender(300, {}));
}

TEST(relay_frame, costs_more_than_its_bytes) {
  EXPECT_EQ(detail::relay_cost(0), detail::relay_frame_bytes);
  EXPECT_EQ(detail::relay_cost(100), 100 + detail::relay_frame_bytes);
}

TEST(relay_frame, a_credit_is_one_number) {
  EXPECT_EQ(detail::consumed_of_credit(test::credit(0x0102030405060708U)), 0x0102030405060708U);
  EXPECT_THROW((void)detail::consumed_of_credit(bytes(7)), protocol_error);
  EXPECT_THROW((void)detail::consumed_of_credit(bytes(9)), protocol_error);
}

}  // namespace relay_frame_test
