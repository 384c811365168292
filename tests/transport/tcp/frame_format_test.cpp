// Heads of frames on the wire: round trips, and everything that must be refused.
#include "transport/tcp/frame_format.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "bulk.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

constexpr std::uint32_t epoch = 0xcafe1234;

std::vector<std::byte> frame_bytes(wire_head head, std::size_t payload) {
  std::vector<std::byte> result(head_bytes + payload);
  store_head(result.data(), head, epoch);
  return result;
}

head_status read(const std::vector<std::byte>& from, wire_head& out) {
  const char* why = nullptr;
  const head_status result = read_frame(from, epoch, out, why);
  EXPECT_EQ(result == head_status::broken, why != nullptr);
  return result;
}

TEST(tcp_frame_format, is_little_endian_and_fixed) {
  const auto bytes = frame_bytes({0x0102, 7, 0x0a0b, 0x11121314, 0x21222324, 0x31323334}, 0);
  const unsigned char expected[] = {2,    1,    0,    0,    7,    0,    0x0b, 0x0a, 0x14, 0x13, 0x12, 0x11,
                                    0x24, 0x23, 0x22, 0x21, 0x34, 0x33, 0x32, 0x31, 0x34, 0x12, 0xfe, 0xca};
  static_assert(sizeof expected == head_bytes);
  EXPECT_EQ(std::memcmp(bytes.data(), expected, sizeof expected), 0);
}

TEST(tcp_frame_format, round_trip) {
  for (const std::uint8_t kind : {1, 2, 0x40, 127}) {
    wire_head out;
    ASSERT_EQ(read(frame_bytes({5, kind, 3, 0xffffffff, 0x80000000, 77}, 5), out), head_status::frame);
    EXPECT_EQ(out.size, 5U);
    EXPECT_EQ(out.kind, kind);
    EXPECT_EQ(out.ahead, 3U);
    EXPECT_EQ(out.key, 0xffffffffU);
    EXPECT_EQ(out.call, 0x80000000U);
    EXPECT_EQ(out.taken, 77U);
  }
}

TEST(tcp_frame_format, what_is_cut_off_is_incomplete) {
  const auto complete = frame_bytes({100, 1, 0, 0, 0, 0}, 100);
  wire_head out;
  for (std::size_t size = 0; size < complete.size(); ++size) {
    EXPECT_EQ(read({complete.begin(), complete.begin() + static_cast<std::ptrdiff_t>(size)}, out),
              head_status::incomplete);
  }
  EXPECT_EQ(read(complete, out), head_status::frame);
}

TEST(tcp_frame_format, what_cannot_be_is_broken_as_soon_as_the_head_is_there) {
  wire_head out;
  const auto broken = [&](wire_head head) { return read(frame_bytes(head, 0), out) == head_status::broken; };
  EXPECT_TRUE(broken({static_cast<std::uint32_t>(largest_payload) + 1, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(broken({0xffffffff, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(broken({0, 130, 0, 0, 0, 0}));
  EXPECT_TRUE(broken({0, 255, 0, 0, 0, 0}));
  EXPECT_TRUE(broken({1, notice_kind, 0, 0, 0, 0})) << "a notice has no payload";
  EXPECT_TRUE(broken({1, farewell_kind, 0, 0, 0, 0}));
  EXPECT_FALSE(broken({0, notice_kind, 9, 0, 0, 0}));
  EXPECT_FALSE(broken({0, want_lane_kind, 0, 0, 0, 0}));
  auto other = frame_bytes({0, 1, 0, 0, 0, 0}, 0);
  other[20] ^= std::byte{1};
  EXPECT_EQ(read(other, out), head_status::broken) << "of another connection";
  auto reserved = frame_bytes({0, 1, 0, 0, 0, 0}, 0);
  reserved[5] = std::byte{1};
  EXPECT_EQ(read(reserved, out), head_status::broken);
}

TEST(tcp_frame_format, random_bytes_are_read_without_reading_beyond) {
  std::mt19937 random(1);
  for (int i = 0; i < ham::test::unless_sanitized(200'000, 40'000); ++i) {
    // On the heap and of the exact size, so that AddressSanitizer sees a byte too much.
    std::vector<std::byte> bytes(random() % 64);
    for (auto& one : bytes) one = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    wire_head head;
    const char* why = nullptr;
    if (read_frame(bytes, 0, head, why) == head_status::frame) {
      ASSERT_LE(head_bytes + head.size, bytes.size());
    }
  }
}

}  // namespace
}  // namespace ham::transport::tcp
