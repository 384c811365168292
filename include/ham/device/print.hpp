// Text that device functions print: its parts as bytes, which the host makes text of. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ham/device/outbox.hpp"

namespace ham::inline v1::device::detail {

/// Each part begins with one of these. A text goes on with its length, of one byte, and its characters; a number with
/// its eight bytes.
enum class print_part : std::uint8_t { text = 1, integer, natural, real };

inline constexpr std::size_t max_text = 200;  ///< characters of one part; a longer one is cut, and ends the line

/// Writes the parts of one line. What does not fit is left out, and the line ends with "...".
class print_writer {
 public:
  HAM_DEVICE void put(const char* text) noexcept {
    if (text == nullptr) text = "(null)";  // as printf of many systems
    std::size_t length = 0;
    while (length < max_text && text[length] != '\0') ++length;
    const auto bytes = static_cast<std::uint8_t>(length);
    if (!begin(print_part::text, 1 + length)) return;
    append(&bytes, 1);
    append(text, length);
    cut_ = text[length] != '\0';
  }
  /// Nothing is converted: a pointer would become a bool.
  template <class Number>
  requires(std::is_arithmetic_v<Number>) HAM_DEVICE void put(Number value) noexcept {
    if constexpr (std::is_same_v<Number, bool>) {
      put(value ? "true" : "false");
    } else if constexpr (std::is_same_v<Number, char>) {
      const char text[2] = {value, '\0'};
      put(text);
    } else if constexpr (std::is_floating_point_v<Number>) {
      number(print_part::real, static_cast<double>(value));
    } else if constexpr (std::is_signed_v<Number>) {
      number(print_part::integer, static_cast<std::int64_t>(value));
    } else {
      number(print_part::natural, static_cast<std::uint64_t>(value));
    }
  }
  /// The bytes of the message.
  [[nodiscard]] HAM_DEVICE const std::byte* finish() noexcept {
    if (cut_) {
      const std::uint8_t end[] = {static_cast<std::uint8_t>(print_part::text), 3, '.', '.', '.'};
      append(end, sizeof end);
      cut_ = false;
    }
    return bytes_;
  }
  [[nodiscard]] HAM_DEVICE std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(size_); }

 private:
  static constexpr std::size_t end_bytes = 5;  // of "..."

  template <class Number>
  HAM_DEVICE void number(print_part what, Number value) noexcept {
    if (begin(what, sizeof value)) append(&value, sizeof value);
  }
  [[nodiscard]] HAM_DEVICE bool begin(print_part what, std::size_t bytes) noexcept {
    cut_ = cut_ || size_ + 1 + bytes > max_message - end_bytes;
    if (!cut_) bytes_[size_++] = static_cast<std::byte>(what);
    return !cut_;
  }
  HAM_DEVICE void append(const void* from, std::size_t size) noexcept {
    for (std::size_t at = 0; at < size; ++at) bytes_[size_++] = static_cast<const std::byte*>(from)[at];
  }

  std::byte bytes_[max_message]{};
  std::size_t size_ = 0;
  bool cut_ = false;
};

/// Prints such a line on the stdout of this process.
void print_here(const std::byte* parts, std::size_t size);

}  // namespace ham::device::detail
