// What the codec's tests share: encoding into an exact buffer, round trips, and hostile variations of good bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "ham/msg/codec.hpp"

namespace codec_test {

using bytes = std::vector<std::byte>;

template <class T>
bytes encoded(const T& value) {
  bytes buffer(ham::msg::encoded_size(value));
  ham::msg::writer to(buffer.data(), buffer.size());
  ham::msg::encode(to, value);
  EXPECT_EQ(to.written(), buffer.size());
  if constexpr (ham::msg::fixed_size_v<T>) {
    EXPECT_EQ(ham::msg::fixed_encoded_size_v<T>, buffer.size());
  }
  return buffer;
}

/// Decodes a T that must fill the bytes exactly. The bytes lie `offset` bytes off any alignment and end at the end of
/// their allocation, so that sanitizers see each byte read too far.
template <class T>
T decoded(const bytes& from, std::size_t offset = 0) {
  const std::unique_ptr<std::byte[]> block(new std::byte[from.size() + offset]);
  if (!from.empty()) std::memcpy(block.get() + offset, from.data(), from.size());
  ham::msg::reader reader(block.get() + offset, from.size());
  T value = ham::msg::decode<T>(reader);
  reader.expect_end();
  return value;
}

template <class T>
T round_trip(const T& value, std::size_t offset = 0) {
  return decoded<T>(encoded(value), offset);
}

/// Every proper prefix of good bytes must be refused.
template <class T>
void expect_truncations_refused(const T& value) {
  const bytes good = encoded(value);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW((void)decoded<T>(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))),
                 ham::protocol_error)
        << "cut to " << size << " of " << good.size() << " bytes";
  }
  bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_THROW((void)decoded<T>(longer), ham::protocol_error);
}

/// Good bytes with one byte, or eight, changed: a value or a protocol_error, nothing else.
template <class T>
void expect_damage_survived(const T& value) {
  const bytes good = encoded(value);
  const auto attempt = [](const bytes& damaged) {
    try {
      (void)decoded<T>(damaged);
    } catch (const ham::protocol_error&) {
      SUCCEED();
    }
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned byte : {0x00U, 0x01U, 0x02U, 0x7fU, 0x80U, 0xffU}) {
      bytes damaged = good;
      damaged[at] = static_cast<std::byte>(byte);
      attempt(damaged);
    }
    for (const std::uint64_t count : {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 61,
                                      std::uint64_t{1} << 32, std::uint64_t{good.size()}}) {
      bytes damaged = good;
      std::memcpy(damaged.data() + at, &count, std::min<std::size_t>(8, good.size() - at));
      attempt(damaged);
    }
  }
}

/// Equality after crossing, at two alignments, and all hostile variations.
template <class T>
void expect_crosses(const T& value) {
  EXPECT_TRUE(round_trip(value) == value);
  EXPECT_TRUE(round_trip(value, 1) == value);
  expect_truncations_refused(value);
  expect_damage_survived(value);
}

}  // namespace codec_test
