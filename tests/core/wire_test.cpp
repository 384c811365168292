// Kinds of frames and first words: peers of this protocol version have these numbers (docs/wire-format.md).
#include "core/wire.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <iterator>

#include "core/slot_table.hpp"
#include "transport/common/ring_layout.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr wire_kind all_kinds[] = {
    wire_kind::call,        wire_kind::reply, wire_kind::reply_error, wire_kind::fragment, wire_kind::batch,
    wire_kind::batch_reply, wire_kind::hello, wire_kind::manifest,    wire_kind::goodbye,  wire_kind::notice,
    wire_kind::flow,        wire_kind::relay, wire_kind::cancel,      wire_kind::replayed};

TEST(wire, kinds_have_the_numbers_of_the_document) {
  for (std::size_t i = 0; i < std::size(all_kinds); ++i) EXPECT_EQ(to_byte(all_kinds[i]), i + 1);
}

TEST(wire, kinds_leave_the_bits_that_stand_beside_them) {
  for (const wire_kind one : all_kinds) {
    EXPECT_EQ(to_byte(one) & in_context, 0) << static_cast<int>(one);
    EXPECT_EQ(to_byte(one) & stoppable, 0) << static_cast<int>(one);
    EXPECT_EQ(to_byte(one) & transport::long_flag, 0) << static_cast<int>(one);
    EXPECT_NE(to_byte(one), transport::pad_kind);
    EXPECT_LE(to_byte(one) | in_context, 127) << "kinds are 1 to 127";
  }
}

TEST(wire, a_greeting_begins_with_readable_letters) {
  std::array<unsigned char, 4> sent{};
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<unsigned char>(hello_magic >> (8 * i));
  EXPECT_EQ(std::memcmp(sent.data(), "HAM1", 4), 0);
  EXPECT_EQ(protocol_version, 9U) << "a new version is said in docs/wire-format.md, too";
  EXPECT_EQ(record_head_bytes, 12U);
}

TEST(wire, no_call_has_the_number_that_asks_for_no_reply) {
  constexpr std::uint32_t last_index = (slot_table::max_chunks - 1) * slot_table::chunk_slots - 1;
  EXPECT_LT(last_index, no_reply & slot_table::index_mask) << "whatever its generation";
}

}  // namespace
}  // namespace ham::detail
