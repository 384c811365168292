// Layout texts, as far as they do not depend on types.
#include "ham/msg/layout.hpp"

#include <string_view>

#include "ham/msg/call_layout.hpp"

namespace ham::inline v1::msg::detail {
namespace {

/// A layout text without the name of the type it begins with, if it begins with one: the handler is named already, and
/// compilers do not agree on the names of lambdas.
std::string without_type_name(const std::string& layout) {
  if (layout.starts_with("empty<")) return "empty";
  const auto comma = layout.find(',');
  if (comma == std::string::npos) return layout;
  for (const std::string_view kind : {std::string_view("opaque<"), std::string_view("object<")}) {
    if (layout.starts_with(kind)) return std::string(kind) + layout.substr(comma);
  }
  return layout;
}

}  // namespace

void append_parts(std::string& to, std::initializer_list<layout_part> parts) {
  for (const layout_part& part : parts) {
    if (part.text == nullptr)
      to += std::to_string(part.size);
    else
      to.append(part.text, part.size);
  }
}

void append_type_name(std::string& to, const std::type_info& type) {
  for (const char letter : canonical_name(type.name())) {
    to += letter == '<' ? '[' : letter == '>' ? ']' : letter == ',' ? ';' : letter;
  }
}

std::string join_layouts(std::span<const layout_writer> writers) {
  std::string text;
  for (std::size_t index = 0; index < writers.size(); ++index) {
    if (index != 0) text += ',';
    writers[index](text);
  }
  return text;
}

std::string join_call_layout(std::span<const layout_writer> writers) {
  std::string callable = "empty";
  if (writers.front() != nullptr) {
    callable.clear();
    writers.front()(callable);
    callable = without_type_name(callable);
  }
  for (std::size_t index = 1; index + 1 < writers.size(); ++index) {
    callable += ',';
    writers[index](callable);
  }
  callable += "->";
  if (writers.back() == nullptr)
    callable += "void";
  else
    writers.back()(callable);
  return callable;
}

}  // namespace ham::msg::detail
