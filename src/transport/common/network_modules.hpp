// Loads the modules of transports that reach other machines.
#pragma once

#include <string>

#include "transport/network.hpp"

namespace ham::inline v1::transport {

/// The module libham_NAME.so, or the one of that name which is part of the program (add_network_module); loaded once
/// and kept. Looked for as module_file.hpp says. Throws ham::config_error that says where it was looked for. Any
/// thread.
[[nodiscard]] network_module& load_network_module(const std::string& name);

}  // namespace ham::transport
