// Measuring how this node represents data.
#include "ham/msg/data_layout.hpp"

#include <array>
#include <bit>
#include <cfloat>
#include <climits>
#include <cstddef>
#include <cwchar>
#include <type_traits>

namespace ham::inline v1::msg {

namespace {

template <class T>
struct behind_a_char {
  char first;
  T second;
};

}  // namespace

data_layout data_layout::local() noexcept {
  return {
      .little_endian = std::endian::native == std::endian::little,
      .char_signed = std::is_signed_v<char>,
      .short_size = sizeof(short),
      .int_size = sizeof(int),
      .long_size = sizeof(long),
      .long_long_size = sizeof(long long),
      .pointer_size = sizeof(void*),
      .wchar_size = sizeof(wchar_t),
      .wchar_signed = std::is_signed_v<wchar_t>,
      .long_double_size = sizeof(long double),
      .long_double_digits = LDBL_MANT_DIG,
      .double_alignment = offsetof(behind_a_char<double>, second),
      .int64_alignment = offsetof(behind_a_char<long long>, second),
      .max_alignment = alignof(std::max_align_t),
  };
}

bool data_layout::same_structs(const data_layout& other) const noexcept {
  data_layout alike = other;
  alike.char_signed = char_signed;
  alike.wchar_signed = wchar_signed;
  return *this == alike;
}

namespace {

std::array<std::string, 5> properties(const data_layout& layout) {
  return {layout.little_endian != 0 ? "little-endian byte order" : "big-endian byte order",
          std::to_string(8 * layout.pointer_size) + "-bit pointers",
          "long of " + std::to_string(layout.long_size) + " bytes",
          "long double of " + std::to_string(layout.long_double_size) + " bytes with " +
              std::to_string(layout.long_double_digits) + " mantissa bits",
          layout.char_signed != 0 ? "signed char" : "unsigned char"};
}

}  // namespace

std::string data_layout::describe() const {
  std::string text;
  for (const std::string& one : properties(*this)) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string data_layout::describe_against(const data_layout& other) const {
  const auto mine = properties(*this);
  const auto theirs = properties(other);
  std::string text;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i] != theirs[i]) text += (text.empty() ? "" : ", ") + mine[i];
  }
  return text.empty() ? "other alignments" : text;
}

}  // namespace ham::msg
