// Exceptions that carry more than a text: an error code, what became of a call, or where another exception came from.
#pragma once

#include <cstddef>
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
inline constexpr std::uint8_t remote = 241;     ///< remote_error: origin_fields; nodes before 0.2.0 take its text alone
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
  return (code >= field_code::remote && code <= field_code::file) || code == field_code::system;
}

/// Of the exception that is being handled, whose type is called `name`; nullopt if it is none of these, or of a type
/// derived from one.
[[nodiscard]] std::optional<encoded_exception> take_fields_apart(const std::string& name);

/// Ends with how long it was, if it is longer than `max_bytes`, which are at least 100.
void cut_text(std::string& text, std::size_t max_bytes);
/// What else a ham::remote_error carries, in 30 KiB or less.
[[nodiscard]] std::string shortened_origin(std::string_view extra);

/// `code`: has_fields(). Throws ham::protocol_error if `extra` does not belong to it.
[[nodiscard]] std::exception_ptr make_with_fields(std::uint8_t code, const std::string& what, std::string_view extra);

}  // namespace ham::detail
