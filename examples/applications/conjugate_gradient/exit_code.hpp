// What the process returns.
#pragma once

namespace cg::exit_code {

inline constexpr int success = 0;
inline constexpr int not_converged = 1;
inline constexpr int bad_input = 2;       ///< command line, file, or a matrix that the method cannot solve
inline constexpr int offload_failed = 3;  ///< a target failed

}  // namespace cg::exit_code
