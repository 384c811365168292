// Comparing and showing types.
#include "debug_info/type.hpp"

namespace ham::inline v1::debug_info {

std::string to_string(const signature& types) {
  std::string text = types.result.name + " (";
  const char* separator = "";
  for (const type& parameter : types.parameters) {
    text += separator + parameter.name;
    separator = ", ";
  }
  return text + ")";
}

type_kind register_kind(const type& what) noexcept {
  switch (what.kind) {
    case type_kind::signed_integer:
    case type_kind::unsigned_integer:
    case type_kind::floating:
    case type_kind::pointer: return what.kind;
    case type_kind::opaque: return what.passed_as;
    default: return type_kind::nothing;
  }
}

bool same_call(const type& a, const type& b) noexcept {
  if (a.kind != b.kind || a.size != b.size || a.members.size() != b.members.size()) return false;
  for (std::size_t i = 0; i < a.members.size(); ++i) {
    if (a.members[i].offset != b.members[i].offset || !same_call(a.members[i].what, b.members[i].what)) return false;
  }
  return true;
}

bool same_call(const signature& a, const signature& b) noexcept {
  if (a.parameters.size() != b.parameters.size()) return false;
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    if (!same_call(a.parameters[i], b.parameters[i])) return false;
  }
  return true;
}

}  // namespace ham::debug_info
