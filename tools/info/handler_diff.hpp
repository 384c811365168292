// What two binaries can call of each other.
#pragma once

#include "handler_listing.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace ham::info {

/// A function that both binaries have, with arguments or results that are laid out differently.
struct layout_change {
  handler_line first;
  handler_line second;
};

struct handler_diff {
  std::vector<handler_line> only_first;
  std::vector<handler_line> only_second;
  std::vector<layout_change> changed;
  std::size_t equal = 0;

  [[nodiscard]] bool same() const noexcept { return only_first.empty() && only_second.empty() && changed.empty(); }
};

/// Pairs handlers by kind and name. Keys are not compared: peers translate them.
[[nodiscard]] handler_diff compare(const std::vector<handler_line>& first, const std::vector<handler_line>& second);

void print_diff(std::ostream& out, const std::string& first, const std::string& second, const handler_diff& what);
void print_diff_json(std::ostream& out, const std::string& first, const std::string& second, const handler_diff& what);

}  // namespace ham::info
