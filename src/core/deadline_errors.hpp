// What is said of calls whose deadline has passed.
#pragma once

#include <exception>

#include "ham/error.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v1::detail {

/// Nothing of the call has left this node. Each gives a ham::deadline_exceeded, or std::bad_alloc.
[[nodiscard]] std::exception_ptr missed_call(const msg::handler_table& functions, node_t node,
                                             const msg::handler_entry& function) noexcept;
/// The call may still run. `function`: nullptr if it is not known.
[[nodiscard]] std::exception_ptr unanswered_call(const msg::handler_table& functions, node_t node,
                                                 const msg::handler_entry* function) noexcept;

/// The call was told to stop. Gives a ham::operation_cancelled, or std::bad_alloc.
[[nodiscard]] std::exception_ptr stopped_call(const msg::handler_table& functions, node_t node,
                                              const msg::handler_entry* function, call_outcome outcome) noexcept;

}  // namespace ham::detail
