// Which nodes a job has: the reading of HAM_NODES.
#pragma once

#include <string_view>
#include <vector>

#include "transport/factory.hpp"

namespace ham::inline v1::detail {

using transport::target_group;

/// What HAM_NODES says if there is no target.
inline constexpr std::string_view no_nodes = "none";

/// Reads HAM_NODES: groups separated by commas outside of '...', each read by the transport that it begins with. "none"
/// is no group. Throws ham::config_error that shows where.
[[nodiscard]] std::vector<target_group> parse_nodes(std::string_view text);

}  // namespace ham::detail
