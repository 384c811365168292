// The bits of a pointer that say which VE process it belongs to.
#pragma once

#include <cstdint>

namespace ham::inline v1::veo {

inline constexpr int max_tagged_procs = 16;
inline constexpr unsigned identifier_shift = 59;
inline constexpr std::uint64_t ve_bit = std::uint64_t{1} << 63;
inline constexpr std::uint64_t identifier_bits = std::uint64_t{15} << identifier_shift;

[[nodiscard]] inline std::uint64_t bits_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
[[nodiscard]] inline bool is_tagged(const void* pointer) noexcept { return (bits_of(pointer) & ve_bit) != 0; }
[[nodiscard]] inline std::uint64_t address_in(const void* pointer) noexcept {
  return bits_of(pointer) & ~(ve_bit | identifier_bits);
}
[[nodiscard]] inline int identifier_in(const void* pointer) noexcept {
  return static_cast<int>((bits_of(pointer) & identifier_bits) >> identifier_shift);
}
/// A number that is a tagged address of a process, unless it says so by chance; negative numbers and doubles do not.
[[nodiscard]] inline bool is_tagged_address(std::uint64_t bits) noexcept {
  const std::uint64_t address = bits & ~(ve_bit | identifier_bits);
  return (bits & ve_bit) != 0 && address != 0 && address < std::uint64_t{1} << 48;
}
/// `identifier` is below max_tagged_procs.
[[nodiscard]] inline void* tagged(std::uint64_t address, int identifier) noexcept {
  const std::uint64_t bits =
      (address & ~identifier_bits) | ve_bit | static_cast<std::uint64_t>(identifier) << identifier_shift;
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits));
}

}  // namespace ham::veo
