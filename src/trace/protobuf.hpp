// Protocol buffers, as far as traces need them: fields are appended to a string.
// Source: the encoding, protobuf.dev/programming-guides/encoding.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ham::inline v1::trace {

/// A message that is being written. Fields come in the order in which they are added.
class protobuf {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
  }
  /// int32, int64: negative ones take ten bytes.
  void signed_number(std::uint32_t field, std::int64_t value) { number(field, static_cast<std::uint64_t>(value)); }
  void fixed(std::uint32_t field, std::uint64_t value) {
    tag(field, 1);
    for (unsigned bit = 0; bit < 64; bit += 8) bytes_.push_back(static_cast<char>(value >> bit & 0xffU));
  }
  void real(std::uint32_t field, double value) { fixed(field, std::bit_cast<std::uint64_t>(value)); }
  void text(std::uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(std::uint32_t field, const protobuf& value) { text(field, value.bytes_); }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  void clear() noexcept { bytes_.clear(); }

 private:
  void tag(std::uint32_t field, std::uint32_t type) { varint(std::uint64_t{field} << 3U | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_.push_back(static_cast<char>(value | 0x80U));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

}  // namespace ham::trace
