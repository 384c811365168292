// Types of a function's parameters and result: what must be known of them to check the sizes of a call and to make it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ham::inline v1::debug_info {

enum class type_kind : unsigned char {
  nothing,  ///< void
  signed_integer,
  unsigned_integer,
  floating,
  complex,
  structure,
  pointer,  ///< to the received bytes, whose number is the caller's choice
  opaque    ///< means nothing in another process, or is not understood: `why` says the reason
};

struct member;

struct type {
  type_kind kind = type_kind::nothing;
  std::size_t size = 0;     ///< in bytes, as the kernel's compiler laid it out
  std::size_t pointee = 0;  ///< pointer: bytes that it must point to at least; 0: not known
  std::string name;         ///< for messages
  std::string why;          ///< opaque: why nothing of it can cross to another process
  /// opaque: how a register holds it all the same, an integer, a floating-point number or a pointer; else nothing.
  type_kind passed_as = type_kind::nothing;
  std::vector<member> members;  ///< structure: in order of offsets, arrays spread out
};

struct member {
  std::size_t offset = 0;
  type what;
};

struct signature {
  type result;
  std::vector<type> parameters;
  std::string source;      ///< where it is known from, for messages
  bool variadic = false;   ///< more arguments may follow; the last parameter is an opaque one for them
  bool prototyped = true;  ///< false: declared as before C89, so that callers pass every float as a double
};

/// "void (double, int, char)"
[[nodiscard]] std::string to_string(const signature& types);

/// How a register holds a value of the type; nothing: none does, or it is not known.
[[nodiscard]] type_kind register_kind(const type& what) noexcept;

/// True if both lead to the same call: kinds, sizes and layouts, not names.
[[nodiscard]] bool same_call(const type& a, const type& b) noexcept;
[[nodiscard]] bool same_call(const signature& a, const signature& b) noexcept;

}  // namespace ham::debug_info
