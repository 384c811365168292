// A kernel's function by its name, and what is known of its types.
#pragma once

#include "mpix/types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ham::inline v1::mpix {

struct found_kernel {
  void (*function)() = nullptr;
  std::optional<signature> types;
  std::string why_untyped = {};  ///< what the debug information lacks, if there are no types
};

/// `name` is that of the function, or with types behind it: "name(double, int)". What is known is taken from, in this
/// order: MPIX_KERNEL, the debug information, the types in the name; those must agree with what else is known. Throws
/// refusal.
[[nodiscard]] found_kernel find_kernel(std::string_view name);

}  // namespace ham::mpix
