// What two binaries can call of each other.
#pragma once

#include "ham/msg/manifest.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace ham::inline v1::info {

/// A function that both binaries have, and that one cannot call on the other.
struct refused_call {
  std::string kind;
  std::string name;
  std::string first_layout;
  std::string second_layout;
  std::string why;  ///< as the sender would say it
};

struct handler_diff {
  std::string first;  ///< how to call the binaries
  std::string second;
  std::string first_data;  ///< what is special in their data layouts; empty if they are alike
  std::string second_data;
  std::vector<msg::manifest::entry> only_first;
  std::vector<msg::manifest::entry> only_second;
  std::vector<refused_call> refused;
  std::size_t equal = 0;

  [[nodiscard]] bool same() const noexcept { return only_first.empty() && only_second.empty() && refused.empty(); }
};

/// A binary and what it says of itself.
struct described_binary {
  std::string path;
  msg::manifest content;
};

/// Compares as two nodes do that meet. Keys are not compared: peers translate them.
[[nodiscard]] handler_diff compare(const described_binary& first, const described_binary& second);

void print_diff(std::ostream& out, const handler_diff& what);
void print_diff_json(std::ostream& out, const handler_diff& what);

}  // namespace ham::info
