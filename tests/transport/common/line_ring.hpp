// A ring of 64 lines with both its ends, for the tests of either.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "transport/common/ring_reader.hpp"
#include "transport/common/ring_writer.hpp"

namespace ham::inline v1::transport {

class line_ring : public testing::Test {
 protected:
  using bytes = std::vector<std::byte>;
  static constexpr unsigned log2 = 6;  // 64 lines
  static constexpr std::uint32_t epoch = 0xabcdef01;

  bool send(std::size_t size, std::byte fill, std::uint32_t call = 0) {
    std::byte* const room = writer.reserve(size);
    if (room == nullptr) return false;
    std::memset(room, static_cast<int>(fill), size);
    writer.commit({7, call, 3});
    return true;
  }
  void expect(std::size_t size, std::byte fill, std::uint32_t call = 0) {
    frame got;
    ASSERT_FALSE(reader.empty());
    ASSERT_EQ(reader.poll(got), ring_status::frame);
    EXPECT_EQ(got.head.key, 7U);
    EXPECT_EQ(got.head.call, call);
    EXPECT_EQ(got.head.kind, 3U);
    EXPECT_EQ(bytes(got.payload.begin(), got.payload.end()), bytes(size, fill));
    reader.release();
  }
  ring_status poll() {
    frame got;
    return reader.poll(got);
  }

  alignas(64) std::array<std::byte, line_bytes << log2> lines{};
  ring_control control{};
  ring_writer writer{lines.data(), log2, control, epoch};
  ring_reader reader{lines.data(), log2, control, epoch};
};

}  // namespace ham::transport
