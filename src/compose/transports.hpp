// The composition root: all transports that this library has.
#pragma once

#include <span>
#include <string_view>

#include "transport/network_factory.hpp"

namespace ham::inline v1::detail {

/// In the order of help and of tools. Any thread.
[[nodiscard]] std::span<const transport::factory* const> transports();
/// The one of this name, or nullptr.
[[nodiscard]] const transport::factory* find_transport(std::string_view name);
/// The one that starts any program on this machine as a target.
[[nodiscard]] const transport::factory& program_starter();
/// The one by which nodes of different machines find each other.
[[nodiscard]] const transport::network_factory& network_transport();
/// The one whose nodes can be the ranks of a communicator that the application has made.
[[nodiscard]] const transport::launched_factory& launched_transport();

}  // namespace ham::detail
