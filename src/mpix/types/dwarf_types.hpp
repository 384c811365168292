// Types in debug information, as parameters of kernels.
#pragma once

#include "mpix/types/dwarf.hpp"
#include "mpix/types/type.hpp"

namespace ham::mpix {

/// Parameters and result of a function's entry. What cannot be called with becomes an opaque type that says why. Throws
/// malformed for debug information that makes no sense.
[[nodiscard]] signature signature_of(const dwarf& info, const dwarf_entry& function);

}  // namespace ham::mpix
