// The --ham-* options of the command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "ham/offload/runtime.hpp"
#include "transport/network.hpp"

namespace ham::inline v1::detail {

/// Takes the --ham-* options out of a command line into `options`, filling what is empty from the environment.
/// --ham-help, --ham-list-handlers and --ham-manifest print and end the process.
void take_options(int& argc, char**& argv, runtime_options& options);
void fill_from_environment(runtime_options& options);

/// Whether connections to other machines show keys and are encrypted: HAM_TCP_SECURITY. `off` is possible on loopback
/// addresses only, `force-off` everywhere. Throws ham::config_error for anything else.
enum class tcp_security : std::uint8_t { on, off, forced_off };
[[nodiscard]] tcp_security security_of();

/// Who encrypts and decrypts on secure connections: HAM_TCP_RECORDS. Throws ham::config_error.
[[nodiscard]] transport::tls_records records_of_tls();

/// The longest message that this node takes, in bytes: HAM_MAX_MESSAGE, a number with K, M or G behind it if need be.
/// Throws ham::config_error.
[[nodiscard]] std::size_t message_limit();
/// How long a peer on another machine may be out of reach before it is given up: HAM_TCP_TIMEOUT, in seconds. Throws
/// ham::config_error.
[[nodiscard]] std::chrono::milliseconds tcp_timeout();
/// After how many nanoseconds destructors of handles give a node up whatever it does: HAM_CLOSE_TIMEOUT, in seconds;
/// nullopt: not as long as it shows a sign of life. Throws ham::config_error.
[[nodiscard]] std::optional<std::int64_t> close_timeout_ns();

}  // namespace ham::detail
