// What an exception says, without a try block: for programs that are compiled with -fno-exceptions.
//
//   if (auto why = future.error()) std::fputs(ham::describe_error(why).message.c_str(), stderr);
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "ham/error.hpp"

namespace ham::inline v1 {

enum class error_kind : std::uint8_t {
  none,            ///< there is no exception
  config,          ///< ham::config_error
  protocol,        ///< ham::protocol_error
  call,            ///< ham::call_error: see error_info::reason
  buffer,          ///< ham::buffer_error
  object,          ///< ham::object_error
  deadline,        ///< ham::deadline_exceeded: see error_info::outcome
  cancelled,       ///< ham::operation_cancelled: see error_info::outcome
  node,            ///< ham::node_failure: see error_info::node, outcome
  remote,          ///< ham::remote_error: see error_info::node; type is that of the exception there
  other_of_ham,    ///< another ham::error
  out_of_memory,   ///< std::bad_alloc
  other_standard,  ///< another class derived from std::exception
  foreign          ///< anything else
};

/// Text of a kind: "deadline".
[[nodiscard]] const char* to_string(error_kind kind) noexcept;

/// What describe_error() has found in an exception. A value.
struct error_info {
  error_kind kind = error_kind::none;  ///< says which of the others mean something
  std::string type;                    ///< name of the exception's class: "std::out_of_range"
  std::string message;                 ///< its what()
  call_error_reason reason = call_error_reason::unspecified;
  call_outcome outcome = call_outcome::ran;  ///< of the call; `ran` where a function threw
  node_t node = -1;

  /// Whether there was an exception.
  explicit operator bool() const noexcept { return kind != error_kind::none; }
};

/// Throws std::bad_alloc. Any thread.
[[nodiscard]] error_info describe_error(const std::exception_ptr& what);

}  // namespace ham
