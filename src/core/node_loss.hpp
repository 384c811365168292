// What is said of calls that failed because their node did.
#pragma once

#include <exception>
#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::detail {

/// A ham::node_failure for people: `reason` says what happened to the node, `last_events` what it did last; both may be
/// empty. Throws std::bad_alloc.
[[nodiscard]] std::exception_ptr make_node_failure(node_failure::details details, const std::string& reason,
                                                   const std::string& last_events = {});

}  // namespace ham::detail
