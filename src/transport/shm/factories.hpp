// The two ways to write targets that share memory with the host.
#pragma once

#include "transport/starting.hpp"

namespace ham::inline v1::transport {

[[nodiscard]] const factory& shm_factory();   ///< this program
[[nodiscard]] const factory& exec_factory();  ///< another build of it

}  // namespace ham::transport
