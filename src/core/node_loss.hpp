// What is said of calls that failed because their node did.
#pragma once

#include <exception>
#include <string>
#include <typeinfo>

#include "ham/error.hpp"

namespace ham::inline v1::detail {

/// A ham::node_failure for people: `reason` says what happened to the node, `last_events` what it did last; both may be
/// empty. Throws std::bad_alloc.
[[nodiscard]] std::exception_ptr make_node_failure(node_failure::details details, const std::string& reason,
                                                   const std::string& last_events = {});

/// The answer to a call by a process that ends because of what has failed the call: the loss of the process follows,
/// and is that of this call, too. So it travels from node to node; programs see a ham::node_failure.
class ending_failure final : public node_failure {
 public:
  using node_failure::node_failure;
};

/// Throws that of this process, which is node `self`, for the reason `why`. `what`: of the call.
[[noreturn]] void throw_ending(node_t self, const std::string& why, node_failure::details what = {});

/// The process that an error says this of; negative: of none.
[[nodiscard]] node_t ending_process(const std::exception_ptr& why) noexcept;

/// The name of an exception's type, for people: of an ending_failure that of a node_failure.
[[nodiscard]] std::string name_of_thrown(const std::type_info& type);

}  // namespace ham::detail
