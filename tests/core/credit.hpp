// Payloads of relayed frames, byte by byte: not as the product writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ham::inline v1::test {

inline std::vector<std::byte> credit(std::uint64_t consumed) {
  std::vector<std::byte> result(sizeof consumed);
  for (std::size_t i = 0; i < sizeof consumed; ++i) result[i] = static_cast<std::byte>(consumed >> (8 * i));
  return result;
}

/// Behind the number of the node that sends it.
inline std::vector<std::byte> of_sender(std::uint32_t node, const std::vector<std::byte>& text) {
  std::vector<std::byte> result(8);
  for (std::size_t i = 0; i < sizeof node; ++i) result[i] = static_cast<std::byte>(node >> (8 * i));
  result.insert(result.end(), text.begin(), text.end());
  return result;
}

}  // namespace ham::test
