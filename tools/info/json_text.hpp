// Just enough JSON for what ham-info prints: nested objects and lists of strings, numbers and truth values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

namespace ham::inline v1::info {

/// Writes one JSON value to a stream, member by member. Names of members are given inside objects and left empty in
/// lists.
class json_text {
 public:
  explicit json_text(std::ostream& out) : out_(out) {}

  json_text& open_object(std::string_view name = {}) { return open(name, '{'); }
  json_text& open_list(std::string_view name = {}) { return open(name, '['); }
  json_text& close_object() { return close('}'); }
  json_text& close_list() { return close(']'); }

  template <class Value>
  json_text& value(std::string_view name, const Value& what) {
    begin(name);
    if constexpr (std::is_same_v<Value, bool>) {
      out_ << (what ? "true" : "false");
    } else if constexpr (std::is_arithmetic_v<Value>) {
      out_ << what;
    } else {
      quote(what);
    }
    return *this;
  }

 private:
  json_text& open(std::string_view name, char bracket) {
    begin(name);
    out_ << bracket;
    ++depth_;
    first_ = true;
    return *this;
  }

  json_text& close(char bracket) {
    --depth_;
    if (!first_) new_line();
    out_ << bracket;
    first_ = false;
    if (depth_ == 0) out_ << '\n';
    return *this;
  }

  void begin(std::string_view name) {
    if (!first_) out_ << ',';
    if (depth_ > 0) new_line();
    first_ = false;
    if (!name.empty()) {
      quote(name);
      out_ << ": ";
    }
  }

  void new_line() { out_ << '\n' << std::string(static_cast<std::size_t>(depth_) * 2, ' '); }

  void quote(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    out_ << '"';
    while (!text.empty()) {
      const char c = text.front();
      const auto byte = static_cast<unsigned char>(c);
      const std::size_t size = character_size(text);
      if (c == '"' || c == '\\') {
        out_ << '\\' << c;
      } else if (byte < 0x20) {
        out_ << "\\u00" << digits[byte >> 4] << digits[byte & 15];
      } else if (size == 0) {
        out_ << "\\ufffd";  // paths and variables may hold any bytes
      } else {
        out_ << text.substr(0, size);
      }
      text.remove_prefix(size == 0 ? 1 : size);
    }
    out_ << '"';
  }

  /// Bytes of the first character; 0: these are not UTF-8.
  static std::size_t character_size(std::string_view text) {
    const auto at = [text](std::size_t i) -> unsigned {
      return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    };
    const unsigned first = at(0);
    if (first < 0x80) return 1;
    const std::size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    // Neither longer than needed, nor a surrogate, nor above the last character.
    const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (size != 0 && (at(1) < least || at(1) > most)) return 0;
    for (std::size_t i = 2; i < size; ++i) {
      if ((at(i) & 0xc0) != 0x80) return 0;
    }
    return size;
  }

  std::ostream& out_;
  int depth_ = 0;
  bool first_ = true;
};

}  // namespace ham::info
