// How the arguments of a kernel call lie in its message, in the byte order that host and helper share.
//
// Head, a byte of kind per argument, padding to 8; a word per argument: its bits, or the length of its buffer; then the
// contents of IN and INOUT buffers, each padded to 8 bytes. The answer holds INOUT and OUT buffers the same way.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ham::inline v1::veo {

enum class argument_kind : std::uint8_t { integer, real, single, hmem, stack_in, stack_inout, stack_out };

[[nodiscard]] constexpr bool is_stack(argument_kind kind) noexcept { return kind >= argument_kind::stack_in; }
[[nodiscard]] constexpr bool is_floating(argument_kind kind) noexcept {
  return kind == argument_kind::real || kind == argument_kind::single;
}
[[nodiscard]] constexpr bool goes_in(argument_kind kind) noexcept {
  return kind == argument_kind::stack_in || kind == argument_kind::stack_inout;
}
[[nodiscard]] constexpr bool comes_back(argument_kind kind) noexcept {
  return kind == argument_kind::stack_inout || kind == argument_kind::stack_out;
}

inline constexpr std::size_t max_arguments = 4096;

/// What the kernel returns, numbered as in enum veo_ham_result; as_typed: what the helper finds out.
enum class result_kind : std::uint8_t { bits, i32, i16, i8, u32, u16, u8, real, single, as_typed, count };

inline constexpr std::uint8_t no_identifier = 255;

struct call_head {
  std::uint32_t arguments = 0;
  result_kind result = result_kind::as_typed;
  std::uint8_t identifier = no_identifier;  ///< of the VE process that is called, in tags of its pointers
  std::uint8_t unused[2] = {};
};
static_assert(sizeof(call_head) == 8);

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace ham::veo
