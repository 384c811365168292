// How a node represents data in memory: byte order, sizes, floating-point format.
#pragma once

#include <cstdint>
#include <string>

namespace ham::inline v1::msg {

/// What decides whether two nodes may exchange raw structs. Part of the manifest.
struct data_layout {
  std::uint8_t little_endian;       ///< 1 or 0
  std::uint8_t char_signed;         ///< of plain char: 1 or 0
  std::uint8_t short_size;          ///< bytes, as all sizes here
  std::uint8_t int_size;            ///< bytes
  std::uint8_t long_size;           ///< bytes
  std::uint8_t long_long_size;      ///< bytes
  std::uint8_t pointer_size;        ///< bytes
  std::uint8_t wchar_size;          ///< bytes of wchar_t
  std::uint8_t wchar_signed;        ///< 1 or 0
  std::uint8_t long_double_size;    ///< bytes
  std::uint8_t long_double_digits;  ///< mantissa bits: 53, 64 (x87), 106 (double-double), 113 (binary128)
  std::uint8_t double_alignment;    ///< inside a struct
  std::uint8_t int64_alignment;     ///< inside a struct
  std::uint8_t max_alignment;

  /// The layout of this process.
  [[nodiscard]] static data_layout local() noexcept;

  /// True if an object of any members has the same bytes on both. The sign of plain char does not matter for that.
  [[nodiscard]] bool same_structs(const data_layout& other) const noexcept;

  /// True if numbers need not be swapped between the two.
  [[nodiscard]] bool same_byte_order(const data_layout& other) const noexcept {
    return little_endian == other.little_endian;
  }

  friend bool operator==(const data_layout&, const data_layout&) = default;

  /// "little-endian byte order, 64-bit pointers, long of 8 bytes, long double of 16 bytes with 64 mantissa bits, ...".
  [[nodiscard]] std::string describe() const;

  /// describe(), reduced to what is different there; "other alignments" if it is nothing that describe() mentions.
  [[nodiscard]] std::string describe_against(const data_layout& other) const;
};

}  // namespace ham::msg
