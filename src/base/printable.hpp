// Text of other processes on its way into messages for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ham::inline v1::base {

/// No longer than `max_bytes`, and without what a terminal would obey: control characters become '?', whatever breaks
/// or indents lines becomes a blank.
[[nodiscard]] inline std::string printable(std::string_view text, std::size_t max_bytes = 1000) {
  constexpr std::string_view cut_off = "...";
  const bool is_long = text.size() > max_bytes;
  if (is_long) text = text.substr(0, max_bytes - cut_off.size());
  std::string result;
  result.reserve(text.size() + cut_off.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // The control characters of Latin 1, in UTF-8; some terminals obey them, too.
    const bool second = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte == '\n' || byte == '\t')
      result += ' ';
    else if (byte < 0x20 || byte == 0x7f || second)
      result += '?';
    else
      result += text[i];
    if (second) ++i;
  }
  if (is_long) result += cut_off;
  return result;
}

}  // namespace ham::base
