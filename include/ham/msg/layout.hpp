// Layout texts: names of types in them, and whether a text means the same on machines of different data layout.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>

#include "ham/msg/names.hpp"

namespace ham::inline v1::msg {

namespace detail {

/// Whether `text` has `token` at `at` as a word of its own.
[[nodiscard]] constexpr bool is_layout_token(std::string_view text, std::size_t at, std::string_view token) noexcept {
  if (!text.substr(at).starts_with(token)) return false;
  const bool starts = at == 0 || text[at - 1] == '<' || text[at - 1] == ',' || text[at - 1] == '>' ||
                      (text[at - 1] == ':' && (at == 1 || text[at - 2] != ':'));
  const std::size_t end = at + token.size();
  const bool ends = token.ends_with('<') || end == text.size() || text[end] == '>' || text[end] == ',' ||
                    text[end] == '-' || text[end] == '@';
  return starts && ends;
}

}  // namespace detail

/// Whether values laid out so mean the same to nodes of different data layout: no object crosses as its bytes (unless
/// it is one byte) and no floating-point number has a format that only some processors know. Between nodes of the
/// `same_byte_order` an object may cross if the text says all of its members, and where they are: it is the same text
/// there. `text` may be that of several types, separated by commas or by "->".
[[nodiscard]] constexpr bool layout_is_portable(std::string_view text, bool same_byte_order = false) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto here = [&](std::string_view token) { return detail::is_layout_token(text, at, token); };
    if (here("f80") || here("f128dd")) return false;
    if (here("opaque<") || (!same_byte_order && here("object<"))) {
      const auto comma = text.find(',', at);
      if (comma == text.npos || text.substr(comma, 3) != ",1,") return false;
    }
    if (here("buffer_ptr<")) {  // what it points to stays where it is
      int depth = 0;
      while (at < text.size() && (text[at] != '>' || --depth != 0)) depth += text[at++] == '<' ? 1 : 0;
    }
  }
  return true;
}

/// Whether values laid out so hold a `long double`, of which the format differs between processors of one byte order.
[[nodiscard]] constexpr bool layout_has_long_double(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (detail::is_layout_token(text, at, "f80") || detail::is_layout_token(text, at, "f128") ||
        detail::is_layout_token(text, at, "f128dd")) {
      return true;
    }
  }
  return false;
}

namespace detail {

/// Part of a layout text: characters, or a number without sign.
struct layout_part {
  constexpr layout_part(std::string_view part) noexcept : text(part.data()), size(part.size()) {}
  constexpr layout_part(const char* part) noexcept : layout_part(std::string_view(part)) {}
  layout_part(const std::string& part) noexcept : layout_part(std::string_view(part)) {}
  constexpr layout_part(std::size_t number) noexcept : size(number) {}

  const char* text = nullptr;  ///< nullptr: the size is the number
  std::size_t size;
};
void append_parts(std::string& to, std::initializer_list<layout_part> parts);

/// Appends several texts and numbers.
template <class... Parts>
void append(std::string& to, const Parts&... parts) {
  append_parts(to, {layout_part(parts)...});
}

/// Appends a type's name with its brackets and commas replaced, so that those in a layout text are all structure.
void append_type_name(std::string& to, const std::type_info& type);
template <class Value>
void append_name(std::string& to) {
  append_type_name(to, typeid(Value));
}

/// Appends the layout of one type.
using layout_writer = void (*)(std::string& to);

/// Their texts, separated by commas.
[[nodiscard]] std::string join_layouts(std::span<const layout_writer> writers);

/// Held while the layout of a class with parts is written: tells when it contains itself.
template <class Value>
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
