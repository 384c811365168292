// Calls of kernels through libffi.
#pragma once

#include <cstdint>

#include "kernel_arguments.hpp"

namespace ham::veo {

/// Calls the function at `kernel`. An exception that leaves it ends in std::terminate.
[[nodiscard]] std::uint64_t call_kernel(std::uint64_t kernel, kernel_arguments& arguments) noexcept;

}  // namespace ham::veo
