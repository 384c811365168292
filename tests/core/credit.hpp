// The payload of a relayed credit, byte by byte: not as the product writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ham::test {

inline std::vector<std::byte> credit(std::uint64_t consumed) {
  std::vector<std::byte> result(sizeof consumed);
  for (std::size_t i = 0; i < sizeof consumed; ++i) result[i] = static_cast<std::byte>(consumed >> (8 * i));
  return result;
}

}  // namespace ham::test
