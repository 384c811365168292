// The arguments of a call, one after the other: as a std::tuple of them, but with views allowed and pointers not.
#pragma once

#include <tuple>

#include "ham/msg/codec_core.hpp"

namespace ham::inline v1::msg {

/// Whether arguments of these decayed parameter types always take the same number of bytes:
/// fixed_pack_size_v<Types...>.
template <class... Types>
inline constexpr bool fixed_pack_v = (fixed_size_v<Types> && ...);

template <class... Types>
requires fixed_pack_v<Types...>
inline constexpr std::size_t fixed_pack_size_v = (std::size_t{0} + ... + fixed_encoded_size_v<Types>);

/// Bytes that the arguments take on the wire; a constant if fixed_pack_v<Types...>.
template <class... Types>
[[nodiscard]] constexpr std::size_t encoded_pack_size(const std::tuple<Types...>& arguments) {
  if constexpr (fixed_pack_v<Types...>) {
    return fixed_pack_size_v<Types...>;
  } else {
    return std::apply([](const Types&... each) { return (std::size_t{0} + ... + encoded_size(each)); }, arguments);
  }
}

/// Writes the arguments in order: encoded_pack_size(arguments) bytes.
template <class... Types>
[[gnu::always_inline]] inline void encode_pack([[maybe_unused]] writer& to, const std::tuple<Types...>& arguments) {
  std::apply([&](const Types&... each) { (encode(to, each), ...); }, arguments);
}

/// Reads arguments of these decayed parameter types. The tuple's elements convert to them; it must outlive the call
/// that they are used in, as must the bytes under the reader. Errors as decode().
template <class... Types>
[[nodiscard, gnu::always_inline]] inline std::tuple<decode_result_t<Types>...> decode_pack(
    [[maybe_unused]] reader& from) {
  if constexpr (fixed_pack_v<Types...>) from.require(fixed_pack_size_v<Types...>);
  return std::tuple<decode_result_t<Types>...>{decode<Types>(from)...};
}

}  // namespace ham::msg
