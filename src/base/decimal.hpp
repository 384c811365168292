// Decimal fractions in settings, in every locale. Not every standard library reads them with std::from_chars.
#pragma once

#include <optional>
#include <string_view>

namespace ham::base {

/// Digits with at most one point among them; nothing if it is no such text.
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
