// The types of a function, out of the debug information of the file that it is in.
#pragma once

#include "mpix/types/type.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ham::mpix {

/// What the debug information in `path`, or in its separate file, says of the function with linker name `name`.
/// Nothing: it does not say, and `why` tells the reason. Throws refusal (untyped) if it says several different things.
[[nodiscard]] std::optional<signature> debug_types(const std::string& path, std::string_view name, std::string& why);

}  // namespace ham::mpix
