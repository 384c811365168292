// How errors that nobody has read are told.
#pragma once

#include <cstdint>
#include <exception>

#include "ham/error.hpp"
#include "ham/offload/detail/slot.hpp"
#include "ham/offload/unobserved_error.hpp"

namespace ham::inline v1::detail {

/// What futures settle with that outlive their runtime, or are those of the parent after fork: no error of theirs.
class runtime_ended : public error {
 public:
  using error::error;
};

/// What a local slot is the result of, for call_slot::position.
[[nodiscard]] constexpr std::uint64_t position_of(operation what, node_t node) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(node)} << 8U | static_cast<std::uint8_t>(what);
}

/// Calls the program's handler, or writes a line. Nobody holds a lock.
void report_unread(unobserved_error what) noexcept;
/// The error in a failed slot. `at`: the node whose it is, -1 if its runtime has ended; `ends`: that has, or is about
/// to.
void report_slot(const call_slot& slot, node_t at, bool ends) noexcept;
/// Makes what tells of the error of a detached call when it is run; nullptr: there is nothing to tell, or no memory.
[[nodiscard]] continuation* report_later(node_t at, node_t node, const msg::handler_entry& function,
                                         std::exception_ptr why, bool ends) noexcept;
/// How many lines were left out since the last one; from now on none.
[[nodiscard]] std::uint64_t take_unreported() noexcept;

/// Whether it says no more than that something ended that was to end. `ends`: this node is about to.
[[nodiscard]] bool is_orderly_end(const std::exception_ptr& error, bool ends) noexcept;

/// The exception for people: "std::runtime_error: no more paper", without line breaks.
[[nodiscard]] std::string describe(const std::exception_ptr& error);

}  // namespace ham::detail
