// Layout texts: names of types in them, and whether a text means the same on machines of different data layout.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

#include "ham/msg/names.hpp"

namespace ham::msg {

/// Whether values laid out so mean the same to nodes of different data layout: no object crosses as its bytes (unless
/// it is one byte) and no floating-point number has a format that only some processors know. `text` may be that of
/// several types, separated by commas or by "->".
[[nodiscard]] constexpr bool layout_is_portable(std::string_view text) noexcept {
  const auto starts_token = [&](std::size_t at) {
    return at == 0 || text[at - 1] == '<' || text[at - 1] == ',' || text[at - 1] == '>' ||
           (text[at - 1] == ':' && (at == 1 || text[at - 2] != ':'));
  };
  const auto ends_token = [&](std::size_t at) {
    return at == text.size() || text[at] == '>' || text[at] == ',' || text[at] == '-';
  };
  for (const std::string_view token : {std::string_view("f80"), std::string_view("f128dd")}) {
    for (auto at = text.find(token); at != text.npos; at = text.find(token, at + 1)) {
      if (starts_token(at) && ends_token(at + token.size())) return false;
    }
  }
  constexpr std::string_view opaque = "opaque<";
  for (auto at = text.find(opaque); at != text.npos; at = text.find(opaque, at + 1)) {
    if (!starts_token(at)) continue;
    const auto comma = text.find(',', at);
    if (comma == text.npos || text.substr(comma, 3) != ",1,") return false;
  }
  return true;
}

namespace detail {

/// Appends several texts. (GCC 12 warns wrongly of `"literal" + std::to_string(...)`.)
template <class... Parts>
void append(std::string& to, const Parts&... parts) {
  ((to += parts), ...);
}

/// Appends a type's name with its brackets and commas replaced, so that those in a layout text are all structure.
template <class T>
void append_name(std::string& to) {
  for (const char c : canonical_name(typeid(T).name())) {
    to += c == '<' ? '[' : c == '>' ? ']' : c == ',' ? ';' : c;
  }
}

/// Held while the layout of a class with parts is written: tells when it contains itself.
template <class T>
class describing {
 public:
  describing() : first_(!active_) { active_ = true; }
  ~describing() { active_ = active_ && !first_; }
  describing(const describing&) = delete;
  describing& operator=(const describing&) = delete;
  [[nodiscard]] bool first() const noexcept { return first_; }

 private:
  bool first_;
  static inline constinit thread_local bool active_ = false;
};

}  // namespace detail
}  // namespace ham::msg
