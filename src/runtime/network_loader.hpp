// Loads the modules of transports that reach other machines.
#pragma once

#include <string>

#include "transport/network.hpp"

namespace ham::detail {

/// The module libham_NAME.so; loaded once and kept. Looked for in the folders of HAM_MODULE_PATH, beside the library
/// and below it in ham/, beside the program, and where the system looks. Throws ham::config_error that says where it
/// was looked for. Any thread.
[[nodiscard]] transport::network_module& load_network(const std::string& name);

}  // namespace ham::detail
