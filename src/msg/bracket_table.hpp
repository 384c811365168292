// Which bracket closes which, for a whole text at once: names of peers are read in one pass, whatever they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ham::inline v1::msg {

/// Operators and arrows are not brackets. Keeps a view of the text.
class bracket_table {
 public:
  explicit bracket_table(std::string_view text) : text_(text), closing_(text.size(), none) {
    std::vector<std::uint32_t> open;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if ((c == '<' || c == '>') && is_operator_or_arrow(i)) continue;
      if (c == '<' || c == '(' || c == '{' || c == '[') open.push_back(static_cast<std::uint32_t>(i));
      if (open.empty() || (c != '>' && c != ')' && c != '}' && c != ']')) continue;
      closing_[open.back()] = static_cast<std::uint32_t>(i);
      open.pop_back();
    }
  }

  /// Where the bracket at `open`, which points into the text, is closed; nullptr: nowhere, or it is none.
  [[nodiscard]] const char* closing(const char* open) const noexcept {
    const std::uint32_t at = closing_[static_cast<std::size_t>(open - text_.data())];
    return at == none ? nullptr : text_.data() + at;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] bool is_operator_or_arrow(std::size_t at) const noexcept {
    const std::string_view before = text_.substr(0, at);
    if (text_[at] == '>' && before.ends_with('-')) return true;
    if (before.ends_with("operator")) return true;
    return before.ends_with(text_[at]) && before.substr(0, at - 1).ends_with("operator");
  }

  std::string_view text_;
  std::vector<std::uint32_t> closing_;
};

}  // namespace ham::msg
