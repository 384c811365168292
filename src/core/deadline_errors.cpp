#include "core/deadline_errors.hpp"

#include <new>
#include <string>

namespace ham::inline v1::detail {

std::exception_ptr missed_call(const msg::handler_table& functions, node_t node,
                               const msg::handler_entry& function) noexcept {
  try {
    return std::make_exception_ptr(
        deadline_exceeded(functions.pretty_name(function.key()) + " has not run on node " + std::to_string(node) +
                              " (its deadline passed before there was a connection to that node, or room in the queue "
                              "to it); allow more time, or call less at once",
                          call_outcome::not_run));
  } catch (const std::bad_alloc&) {
    return std::current_exception();
  }
}

std::exception_ptr unanswered_call(const msg::handler_table& functions, node_t node,
                                   const msg::handler_entry* function) noexcept {
  try {
    const std::string name = function == nullptr ? std::string("a call") : functions.pretty_name(function->key());
    return std::make_exception_ptr(
        deadline_exceeded(name + " on node " + std::to_string(node) +
                              " did not answer before its deadline (it may still run; its result will be dropped)",
                          call_outcome::may_have_run));
  } catch (const std::bad_alloc&) {
    return std::current_exception();
  }
}

std::exception_ptr stopped_call(const msg::handler_table& functions, node_t node, const msg::handler_entry* function,
                                call_outcome outcome) noexcept {
  try {
    const std::string name = function == nullptr ? std::string("a call") : functions.pretty_name(function->key());
    const char* const how = outcome == call_outcome::not_run
                                ? " has not run (it was stopped before it began)"
                                : " was stopped (it may still run; its result will be dropped)";
    return std::make_exception_ptr(operation_cancelled(
        name + (outcome == call_outcome::not_run ? " for node " : " on node ") + std::to_string(node) + how, outcome));
  } catch (const std::bad_alloc&) {
    return std::current_exception();
  }
}

}  // namespace ham::detail
