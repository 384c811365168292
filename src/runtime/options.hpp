// The --ham-* options of the command line.
#pragma once

#include <cstdint>

#include "ham/offload/runtime.hpp"

namespace ham::detail {

/// Takes the --ham-* options out of a command line into `options`, filling what is empty from the environment.
/// --ham-help and --ham-list-handlers print and end the process.
void take_options(int& argc, char**& argv, runtime_options& options);
void fill_from_environment(runtime_options& options);

/// Whether connections to other machines show keys and are encrypted: HAM_TCP_SECURITY. `off` is possible on loopback
/// addresses only, `force-off` everywhere. Throws ham::config_error for anything else.
enum class tcp_security : std::uint8_t { on, off, forced_off };
[[nodiscard]] tcp_security security_of();

}  // namespace ham::detail
