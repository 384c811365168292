// Sizes of transfers and how they are written.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ham::inline v1::bench {

[[nodiscard]] inline std::string size_text(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 20) return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= std::size_t{1} << 10) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " B";
}

/// 1 B, and 8 B to 256 MiB as in the papers' figures, up to `largest`.
[[nodiscard]] inline std::vector<std::size_t> transfer_sizes(std::size_t largest) {
  std::vector<std::size_t> sizes{1};
  for (const std::size_t bytes : {8U, 64U, 256U, 1U << 10, 4U << 10, 16U << 10, 64U << 10, 256U << 10, 1U << 20,
                                  4U << 20, 16U << 20, 64U << 20, 256U << 20}) {
    if (bytes <= largest) sizes.push_back(bytes);
  }
  return sizes;
}

}  // namespace ham::bench
