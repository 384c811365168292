// 128 bits that stand for a manifest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ham::inline v1::msg {

/// Two nodes with equal digests have the same handlers under the same keys, laid out alike.
struct digest {
  std::uint64_t lo = 0;  ///< lower 64 bits
  std::uint64_t hi = 0;  ///< upper 64 bits
  friend constexpr bool operator==(const digest&, const digest&) = default;
};

/// 32 hexadecimal digits.
[[nodiscard]] std::string to_string(const digest& value);

/// FNV-1a with 128 bits: no cryptographic hash, it guards against mistakes, not against forgers.
class digest_builder {
 public:
  /// Adds one byte.
  constexpr void byte(std::uint8_t value) noexcept {
    state_.lo ^= value;
    multiply_by_prime();
  }
  /// Adds these bytes, without their number.
  void bytes(std::span<const std::byte> values) noexcept;
  /// Adds the length, then the characters, so that "ab" + "c" differs from "a" + "bc".
  void text(std::string_view value) noexcept;
  [[nodiscard]] constexpr digest value() const noexcept { return state_; }

 private:
  /// The prime is 2^88 + 0x13b.
  constexpr void multiply_by_prime() noexcept {
    constexpr std::uint64_t low_part = 0x13b;
    const std::uint64_t low_product = (state_.lo & 0xffffffffu) * low_part;
    const std::uint64_t high_product = (state_.lo >> 32) * low_part + (low_product >> 32);
    state_.hi = state_.hi * low_part + (high_product >> 32) + (state_.lo << 24);
    state_.lo = (high_product << 32) | (low_product & 0xffffffffu);
  }

  digest state_{0x62b821756295c58dULL, 0x6c62272e07bb0142ULL};
};

}  // namespace ham::msg
