// Errors that nobody has read: of futures that were dropped, of calls that were detached.
//
//   ham::on_unobserved_error([](const ham::unobserved_error& what) { ++lost[what.node]; });
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "ham/misc/types.hpp"

namespace ham::inline v1 {

/// What an error is the result of.
enum class operation : std::uint8_t { continuation, call, ping, put, get, copy };

/// "call", "ping", "put", "get", "copy"; "continuation" also stands for tasks and for what combines futures.
[[nodiscard]] const char* to_string(operation what) noexcept;

/// An error that nobody has read.
struct unobserved_error {
  std::exception_ptr error;                  ///< what it has failed with
  operation what = operation::continuation;  ///< what it is the result of
  node_t node = -1;                          ///< that was called, or whose memory it was; -1: none
  node_t at = -1;                            ///< the node that tells; -1: its runtime has ended
  std::string function;                      ///< of calls and pings; else empty
};

/// See on_unobserved_error. It must not throw.
using unobserved_error_handler = void (*)(const unobserved_error& what);

/// Has `handler` called, from now on and in this process, for each error that nobody has read; gives the one before.
/// nullptr, as at the start: a line on stderr, not more than a few in a second, or nothing with
/// HAM_UNOBSERVED_ERRORS=ignore.
///
/// An error is read by get(), error() or has_value() of its future, or goes on to another future (then, when_all). It
/// is told when the future that has it is destroyed or assigned over, or, if it was detached, when it arrives. What a
/// function called by ping throws is told on the node where it ran. Not told: that a node is lost which was removed, or
/// whose runtime or this one has ended in order; and the deadline of a detached call.
///
/// The handler is called by the thread that drops the future, or that makes progress, perhaps in a destructor, perhaps
/// by several at once, and holds no lock. It must not throw: what leaves it is dropped. It may use ham::offload; errors
/// that it drops itself become lines. Any thread.
unobserved_error_handler on_unobserved_error(unobserved_error_handler handler) noexcept;

}  // namespace ham
