// Numbers in settings, in every locale.
#pragma once

#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ham::inline v1::base {

/// An integer from `least` to `most` and nothing else.
[[nodiscard]] inline std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t least,
                                                               std::int64_t most) noexcept {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < least || number > most) return std::nullopt;
  return number;
}

/// The same, as large as an int may be.
[[nodiscard]] inline std::optional<int> parse_int(std::string_view text) noexcept {
  const std::optional<std::int64_t> number = parse_integer(text, INT_MIN, INT_MAX);
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

/// An integer at the begin of `text`, which it is taken from; nothing if there is none, or too large a one.
[[nodiscard]] inline std::optional<std::size_t> take_number(std::string_view& text) noexcept {
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

/// Not every standard library reads fractions with std::from_chars. Digits with at most one point among them; nothing
/// if it is no such text.
[[nodiscard]] inline std::optional<double> parse_decimal(std::string_view text) noexcept {
  double digits = 0;
  double divisor = 1;
  bool any = false;
  bool behind_point = false;
  for (const char c : text) {
    if (c == '.' && !behind_point) {
      behind_point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    digits = 10 * digits + (c - '0');
    if (behind_point) divisor *= 10;
  }
  if (!any) return std::nullopt;
  return digits / divisor;
}

}  // namespace ham::base
