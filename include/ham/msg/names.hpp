// Names of handlers: one spelling for all compilers, and one for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ham::inline v1::msg {

/// Longer names are not sent: 16 KiB.
inline constexpr std::size_t max_name_bytes = std::size_t{16} << 10;

/// Demangles a typeid name and normalises it: inline namespaces of standard libraries are folded, std::string has its
/// short name, and blanks and the spelling of unnamed types do not depend on the demangler. What cannot be demangled
/// is returned as it is. The result contains printable characters only. Of names that are longer than max_name_bytes
/// the end is replaced by a digest of the whole name.
[[nodiscard]] std::string canonical_name(const char* mangled);

/// Normalises a demangled name; canonical_name() without the demangling.
[[nodiscard]] std::string canonical_text(std::string_view demangled);

/// A canonical handler name as a person would write it: "f(int, double)" instead of the type that wraps &f. The name
/// may be a peer's: time and memory are proportional to its length.
[[nodiscard]] std::string pretty_name(std::string_view canonical);

}  // namespace ham::msg
