// Names of handlers: one spelling for all compilers, and one for people.
#pragma once

#include <string>
#include <string_view>

namespace ham::msg {

/// Demangles a typeid name and normalises it: inline namespaces of standard libraries are folded, std::string has its
/// short name, and blanks and the spelling of unnamed types do not depend on the demangler. What cannot be demangled
/// is returned as it is. The result contains printable characters only.
[[nodiscard]] std::string canonical_name(const char* mangled);

/// Normalises a demangled name; canonical_name() without the demangling.
[[nodiscard]] std::string canonical_text(std::string_view demangled);

/// A canonical handler name as a person would write it: "f(int, double)" instead of the type that wraps &f.
[[nodiscard]] std::string pretty_name(std::string_view canonical);

}  // namespace ham::msg
