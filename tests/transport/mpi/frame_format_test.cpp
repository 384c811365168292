// Heads of MPI messages: little-endian, 16 bytes, and apart from what is the transport's own.
#include "transport/mpi/frame_format.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/wire.hpp"
#include "transport/common/ring_layout.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

TEST(mpi_frame_format, a_head_travels_in_one_byte_order) {
  std::array<std::byte, 17> wire{};
  wire.fill(std::byte{0xee});
  frame_head head{};
  head.key = 0x11223344;
  head.call = 0x55667788;
  head.kind = 9;
  store_head(wire.data(), head, 0x99aabbcc);
  const unsigned expected[] = {0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55, 0xcc,
                               0xbb, 0xaa, 0x99, 9,    0,    0,    0,    0xee};
  for (std::size_t i = 0; i < wire.size(); ++i) EXPECT_EQ(std::to_integer<unsigned>(wire[i]), expected[i]) << i;
  const frame_format back = load_head(wire.data());
  EXPECT_EQ(back.key, head.key);
  EXPECT_EQ(back.call, head.call);
  EXPECT_EQ(back.kind, head.kind);
  EXPECT_EQ(back.taken, 0x99aabbccU);
}

TEST(mpi_frame_format, a_head_may_lie_at_any_address) {
  std::array<std::byte, 24> wire{};
  for (std::size_t at = 0; at < 8; ++at) {
    store_head(wire.data() + at, {static_cast<std::uint32_t>(at), 2, 3}, 4);
    EXPECT_EQ(load_head(wire.data() + at).key, at);
  }
}

TEST(mpi_frame_format, control_frames_have_no_kind_of_the_runtimes) {
  for (const control one : {control::credit, control::ended}) {
    EXPECT_GT(static_cast<unsigned>(one), 127U) << "the contract's kinds are 1 to 127";
  }
  EXPECT_NE(control::credit, control::ended);
}

TEST(mpi_frame_format, tags_do_not_meet_and_are_such_as_every_mpi_has) {
  EXPECT_NE(frame_tag, credit_tag);
  EXPECT_NE(credit_tag, bulk_request_tag);
  EXPECT_GT(first_bulk_tag, bulk_request_tag);
  constexpr int least_upper_bound = 32767;  // MPI 4.1, section 8.1.2
  EXPECT_LE(first_bulk_tag + 2 * static_cast<int>(bulk_tags), least_upper_bound);
  EXPECT_EQ(largest_payload + sizeof(frame_format), largest_frame);
}

}  // namespace
}  // namespace ham::transport::mpi
