// Types in debug information, as parameters of kernels.
#pragma once

#include "debug_info/dwarf.hpp"
#include "debug_info/type.hpp"

namespace ham::inline v1::debug_info {

/// Parameters and result of a function's entry. What cannot be called with becomes an opaque type that says why. Throws
/// malformed for debug information that makes no sense.
[[nodiscard]] signature signature_of(const dwarf& info, const dwarf_entry& function);

}  // namespace ham::debug_info
