// Calls of kernels by their types.
#pragma once

#include "../call/kernel_call.hpp"
#include "kernel_directory.hpp"

namespace ham::inline v1::veo {

/// The calling thread's call of this kernel, prepared for arguments of these setters. Writes a warning, once per
/// kernel, if its types are not known and would be needed. Throws ham::call_error.
[[nodiscard]] prepared_call& prepare_call(std::uint64_t kernel, kernel_directory& directory,
                                          const kernel_arguments& arguments);

}  // namespace ham::veo
