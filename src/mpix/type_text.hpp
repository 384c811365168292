// Types written as text, "double, int, const float*": in a kernel's name by the caller, or by MPIX_KERNEL.
#pragma once

#include "mpix/types.hpp"

#include <string_view>
#include <vector>

namespace ham::inline v1::mpix {

/// The parameters in `text`, without the parentheses; "" and "void" are none. Knows C's arithmetic types, the
/// fixed-width ones, and pointers to anything. Throws refusal (untyped) for a type that it does not know.
[[nodiscard]] std::vector<type> parse_parameters(std::string_view text);

/// One type; also "void".
[[nodiscard]] type parse_type(std::string_view text);

}  // namespace ham::mpix
