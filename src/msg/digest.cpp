// The digest of byte sequences and texts.
#include "ham/msg/digest.hpp"

namespace ham::inline v1::msg {

std::string to_string(const digest& value) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {value.hi, value.lo}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[(half >> shift) & 15];
  }
  return text;
}

void digest_builder::bytes(std::span<const std::byte> values) noexcept {
  for (const std::byte each : values) byte(static_cast<std::uint8_t>(each));
}

void digest_builder::text(std::string_view value) noexcept {
  for (int shift = 0; shift < 64; shift += 8) {
    byte(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value.size()) >> shift));
  }
  bytes(std::as_bytes(std::span(value.data(), value.size())));
}

}  // namespace ham::msg
