// Fields of the wire: little-endian on every machine, of any width, at any address.
#include "transport/tcp/bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

namespace ham::inline v1::transport::tcp {
namespace {

TEST(tcp_bytes, the_lowest_byte_comes_first) {
  std::array<std::byte, 10> to{};
  to.fill(std::byte{0xee});
  store(to.data() + 1, std::uint64_t{0x1122334455667788});
  const unsigned expected[] = {0xee, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xee};
  for (std::size_t i = 0; i < to.size(); ++i) EXPECT_EQ(std::to_integer<unsigned>(to[i]), expected[i]) << i;
  store(to.data() + 1, std::uint16_t{0xabcd});
  EXPECT_EQ(to[1], std::byte{0xcd});
  EXPECT_EQ(to[2], std::byte{0xab});
  EXPECT_EQ(to[3], std::byte{0x66}) << "two bytes are two bytes";
}

template <class T>
void expect_same() {
  std::array<std::byte, sizeof(T) + 1> place{};
  for (const T value :
       {T{0}, T{1}, T{0x80}, std::numeric_limits<T>::max(), static_cast<T>(std::numeric_limits<T>::max() / 2 + 1)}) {
    store(place.data() + 1, value);
    EXPECT_EQ(load<T>(place.data() + 1), value);
  }
}

TEST(tcp_bytes, what_is_stored_is_loaded) {
  expect_same<std::uint8_t>();
  expect_same<std::uint16_t>();
  expect_same<std::uint32_t>();
  expect_same<std::uint64_t>();
}

}  // namespace
}  // namespace ham::transport::tcp
