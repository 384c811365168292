// Little-endian fields in byte arrays, whatever the byte order of the machine.
#pragma once

#include <concepts>
#include <cstddef>

namespace ham::inline v1::transport::tcp {

template <std::unsigned_integral T>
void store(std::byte* to, T value) noexcept {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

template <std::unsigned_integral T>
[[nodiscard]] T load(const std::byte* from) noexcept {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | static_cast<T>(from[i]) << (8 * i));
  return value;
}

}  // namespace ham::transport::tcp
