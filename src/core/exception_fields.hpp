// Exceptions that carry more than a text: an error code, or what became of a call.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace ham::inline v1::detail {

/// As an exception travels: its code, type, what(), and what else it carries.
using encoded_exception = std::tuple<std::uint8_t, std::string, std::string, std::string>;

/// Codes on the wire of those that have fields.
namespace field_code {
inline constexpr std::uint8_t ending = 242;     ///< ending_failure: failure_fields
inline constexpr std::uint8_t cancelled = 243;  ///< operation_cancelled: outcome
inline constexpr std::uint8_t failure = 244;    ///< node_failure: failure_fields
inline constexpr std::uint8_t deadline = 245;   ///< deadline_exceeded: outcome
inline constexpr std::uint8_t future = 246;     ///< std::future_error: value
inline constexpr std::uint8_t stream = 247;     ///< std::ios_base::failure: as system
inline constexpr std::uint8_t file = 248;       ///< std::filesystem::filesystem_error: as system, and the two paths
inline constexpr std::uint8_t system = 250;     ///< std::system_error: value and category
}  // namespace field_code

[[nodiscard]] constexpr bool has_fields(std::uint8_t code) noexcept {
  return (code >= field_code::ending && code <= field_code::file) || code == field_code::system;
}

/// Of the exception that is being handled, whose type is called `name`; nullopt if it is none of these, or of a type
/// derived from one.
[[nodiscard]] std::optional<encoded_exception> take_fields_apart(const std::string& name);

/// `code`: has_fields(). Throws ham::protocol_error if `extra` does not belong to it.
[[nodiscard]] std::exception_ptr make_with_fields(std::uint8_t code, const std::string& what, std::string_view extra);

}  // namespace ham::detail
