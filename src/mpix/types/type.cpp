// Comparing and showing types.
#include "mpix/types/type.hpp"

namespace ham::mpix {

std::string to_string(const signature& types) {
  std::string text = types.result.name + " (";
  const char* separator = "";
  for (const type& parameter : types.parameters) {
    text += separator + parameter.name;
    separator = ", ";
  }
  return text + ")";
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

}  // namespace ham::mpix
