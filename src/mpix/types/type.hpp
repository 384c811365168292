// Types of a kernel's parameters: what must be known of them to check the sizes of a call and to make it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ham::mpix {

enum class type_kind : unsigned char {
  nothing,  ///< void
  signed_integer,
  unsigned_integer,
  floating,
  complex,
  structure,
  pointer,  ///< to the received bytes, whose number is the caller's choice
  opaque    ///< cannot be called with: `why` says the reason
};

struct member;

struct type {
  type_kind kind = type_kind::nothing;
  std::size_t size = 0;         ///< in bytes, as the kernel's compiler laid it out
  std::size_t pointee = 0;      ///< pointer: bytes that it must point to at least; 0: not known
  std::string name;             ///< for messages
  std::string why;              ///< opaque: why nothing of it can cross
  std::vector<member> members;  ///< structure: in order of offsets, arrays spread out
};

struct member {
  std::size_t offset = 0;
  type what;
};

struct signature {
  type result;
  std::vector<type> parameters;
  std::string source;  ///< where it is known from, for messages
};

/// "void (double, int, char)"
[[nodiscard]] std::string to_string(const signature& types);

/// True if both lead to the same call: kinds, sizes and layouts, not names.
[[nodiscard]] bool same_call(const type& a, const type& b) noexcept;
[[nodiscard]] bool same_call(const signature& a, const signature& b) noexcept;

}  // namespace ham::mpix
