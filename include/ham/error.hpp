// Every exception that HAM throws.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "ham/misc/types.hpp"

/// In headers, so that programs compile with -fno-exceptions: there, what is tried is just done.
#ifdef __cpp_exceptions
#define HAM_TRY try
#define HAM_CATCH_ALL catch (...)
#define HAM_RETHROW throw
#else
#define HAM_TRY if (true)
#define HAM_CATCH_ALL else
#define HAM_RETHROW static_cast<void>(0)
#endif

namespace ham::inline v1 {

/// Base of all exceptions of this library. Messages have the form "what is wrong (why) what to do".
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A setting cannot be used: HAM_NODES, a command line option, a limit of the operating system at start.
class config_error : public error {
 public:
  using error::error;
};

/// Bytes from a peer break the rules of the wire format. They were not executed; the endpoint they came from is closed.
class protocol_error : public error {
 public:
  using error::error;
};

/// Why a call was refused, for programs. Further values may be added.
enum class call_error_reason : std::uint8_t {
  unspecified,       ///< not known: thrown by a program itself, or by a node of another version
  no_such_node,      ///< the job has no node of that number
  unknown_function,  ///< the other program does not have the function
  other_layout,      ///< the two programs lay out an argument or the result differently
  ambiguous_name,    ///< several functions of one of the programs have that name
  too_long,          ///< arguments or result exceed what a node takes in one message
  no_context,        ///< the context was closed, moved from, or never opened
  too_many_calls,    ///< more calls are pending, or wait on the node, than there is room for
  nested_too_deep,   ///< calls wait inside of each other deeper than the limit
  wrong_size         ///< a codec wrote more or less than its size said
};

/// Text of a reason: "no such node".
[[nodiscard]] constexpr const char* to_string(call_error_reason reason) noexcept {
  switch (reason) {
    case call_error_reason::unspecified: return "unspecified";
    case call_error_reason::no_such_node: return "no such node";
    case call_error_reason::unknown_function: return "unknown function";
    case call_error_reason::other_layout: return "other layout";
    case call_error_reason::ambiguous_name: return "ambiguous name";
    case call_error_reason::too_long: return "too long";
    case call_error_reason::no_context: return "no context";
    case call_error_reason::too_many_calls: return "too many calls";
    case call_error_reason::nested_too_deep: return "nested too deep";
    case call_error_reason::wrong_size: return "wrong size";
  }
  return "unknown";
}

/// A call was refused: the peer lacks the function, lays out an argument differently, the name is ambiguous in this
/// binary, the destination does not exist, or it is too much for one of the nodes. The function has not run, unless it
/// is its result that cannot be sent (too_long, wrong_size).
class call_error : public error {
 public:
  /// `message` is what() of it.
  explicit call_error(const std::string& message, call_error_reason reason = call_error_reason::unspecified)
      : error(message), reason_(reason) {}

  /// Travels with the exception from node to node.
  [[nodiscard]] call_error_reason reason() const noexcept { return reason_; }

 private:
  call_error_reason reason_;
};

/// A handle to memory cannot be used: freed, stale, out of range, or of another node. No byte was moved.
class buffer_error : public error {
 public:
  using error::error;
};

/// A handle to an object cannot be used: the object was destroyed, lives on another node, is of another type, or was
/// never made there. Nothing was called.
class object_error : public error {
 public:
  using error::error;
};

/// What is known of a call that failed without an answer.
enum class call_outcome : std::uint8_t {
  not_run,       ///< it never runs: the message did not leave this node, or its receiver died before it took it
  may_have_run,  ///< it may have run, in part or to its end, or may yet run
  ran            ///< the call was executed, its result was lost on the way back
};

/// Text of an outcome: "not run", "may have run", "ran".
[[nodiscard]] constexpr const char* to_string(call_outcome outcome) noexcept {
  switch (outcome) {
    case call_outcome::not_run: return "not run";
    case call_outcome::may_have_run: return "may have run";
    case call_outcome::ran: return "ran";
  }
  return "unknown";
}

/// The deadline of a call passed before its result arrived; the result will be dropped.
class deadline_exceeded : public error {
 public:
  /// `message` is what() of it.
  explicit deadline_exceeded(const std::string& message, call_outcome outcome = call_outcome::may_have_run)
      : error(message), outcome_(outcome) {}

  /// not_run: the call waited for room in the queue to its node until the deadline, and was not sent, or for the device
  /// of its node, and was taken out there. Else may_have_run.
  [[nodiscard]] call_outcome outcome() const noexcept { return outcome_; }

 private:
  call_outcome outcome_;
};

/// The call was stopped: by future::request_stop, by the stop token of its destination, or because the call that made
/// it was.
class operation_cancelled : public error {
 public:
  /// `message` is what() of it.
  explicit operation_cancelled(const std::string& message, call_outcome outcome = call_outcome::may_have_run)
      : error(message), outcome_(outcome) {}

  /// not_run: it was taken out of a queue, here or on its node, and never runs. may_have_run: it was told to stop, and
  /// nobody has waited for what came of that.
  [[nodiscard]] call_outcome outcome() const noexcept { return outcome_; }

 private:
  call_outcome outcome_;
};

/// A node died or its connection broke while a call to it was pending, or it was already gone when the call was made.
class node_failure : public error {
 public:
  /// Details of the failed node and the call; empty or negative where unknown. If the exception comes from a function
  /// that was called on another node, they are those of the call which that function made.
  struct details {
    node_t node = -1;                                   ///< that failed
    std::string host;                                   ///< name of its machine
    std::int64_t pid = -1;                              ///< of its process
    std::string function;                               ///< that was called, its name for people
    std::uint64_t call = 0;                             ///< number between the two nodes, used again; 0 also if unknown
    call_outcome outcome = call_outcome::may_have_run;  ///< whether the function can have run
    bool orderly = false;                               ///< see orderly()
  };

  /// `message` is what() of it.
  node_failure(const std::string& message, details what) : error(message), details_(std::move(what)) {}

  /// The node that failed; negative if unknown.
  [[nodiscard]] node_t node() const noexcept { return details_.node; }
  /// Host name of its machine; empty if unknown.
  [[nodiscard]] const std::string& host() const noexcept { return details_.host; }
  /// Its process, as the machine numbers it; negative if unknown.
  [[nodiscard]] std::int64_t pid() const noexcept { return details_.pid; }
  /// Name of the function that was called, for people; empty if unknown.
  [[nodiscard]] const std::string& function() const noexcept { return details_.function; }
  /// The number of the call between the two nodes, which is used again; 0 also if unknown.
  [[nodiscard]] std::uint64_t call() const noexcept { return details_.call; }
  /// Whether the function can have run.
  [[nodiscard]] call_outcome outcome() const noexcept { return details_.outcome; }
  /// The node left on purpose: it was removed, or its runtime or this one has ended. False for what another node says.
  [[nodiscard]] bool orderly() const noexcept { return details_.orderly; }

 private:
  details details_;
};

/// An exception left a function on its target whose type is neither a standard one nor registered
/// (ham::register_exception). what() of it includes everything below.
class remote_error : public error {
 public:
  /// Where the exception came from.
  struct origin {
    node_t node = -1;       ///< on which the function ran
    std::string host;       ///< name of its machine
    std::int64_t pid = -1;  ///< of its process
    std::string function;   ///< that was called, its name for people
    std::string type;       ///< name of the exception's type, demangled
    std::string message;    ///< its what(), empty if it has none
  };

  /// `message` is what() of it.
  remote_error(const std::string& message, origin where) : error(message), origin_(std::move(where)) {}

  /// The node on which the exception left the function.
  [[nodiscard]] node_t node() const noexcept { return origin_.node; }
  /// Host name of its machine.
  [[nodiscard]] const std::string& host() const noexcept { return origin_.host; }
  /// Its process, as the machine numbers it.
  [[nodiscard]] std::int64_t pid() const noexcept { return origin_.pid; }
  /// Name, for people, of the function that was called.
  [[nodiscard]] const std::string& function() const noexcept { return origin_.function; }
  /// Name of the exception's type, demangled.
  [[nodiscard]] const std::string& type() const noexcept { return origin_.type; }
  /// what() of the exception itself; empty if it has none.
  [[nodiscard]] const std::string& message() const noexcept { return origin_.message; }

 private:
  origin origin_;
};

}  // namespace ham
