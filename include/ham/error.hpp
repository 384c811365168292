// Every exception that HAM throws.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "ham/misc/types.hpp"

namespace ham {

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

/// A call cannot be sent: the peer lacks the function, lays out an argument differently, the name is ambiguous in this
/// binary, or the destination does not exist. Nothing was sent.
class call_error : public error {
 public:
  using error::error;
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
  explicit deadline_exceeded(const std::string& message, call_outcome outcome = call_outcome::may_have_run)
      : error(message), outcome_(outcome) {}

  /// not_run: the call waited for room in the queue to its node until the deadline, and was not sent. Else
  /// may_have_run.
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
    node_t node = -1;
    std::string host;
    std::int64_t pid = -1;
    std::string function;
    std::uint64_t call = 0;
    call_outcome outcome = call_outcome::may_have_run;
  };

  node_failure(const std::string& message, details what) : error(message), details_(std::move(what)) {}

  [[nodiscard]] node_t node() const noexcept { return details_.node; }
  [[nodiscard]] const std::string& host() const noexcept { return details_.host; }
  [[nodiscard]] std::int64_t pid() const noexcept { return details_.pid; }
  [[nodiscard]] const std::string& function() const noexcept { return details_.function; }
  [[nodiscard]] std::uint64_t call() const noexcept { return details_.call; }
  [[nodiscard]] call_outcome outcome() const noexcept { return details_.outcome; }

 private:
  details details_;
};

/// An exception left a function on its target whose type is neither a standard one nor registered
/// (ham::register_exception). what() of it includes everything below.
class remote_error : public error {
 public:
  /// Where the exception came from.
  struct origin {
    node_t node = -1;
    std::string host;
    std::int64_t pid = -1;
    std::string function;
    std::string type;     ///< name of the exception's type, demangled
    std::string message;  ///< its what(), empty if it has none
  };

  remote_error(const std::string& message, origin where) : error(message), origin_(std::move(where)) {}

  [[nodiscard]] node_t node() const noexcept { return origin_.node; }
  [[nodiscard]] const std::string& host() const noexcept { return origin_.host; }
  [[nodiscard]] std::int64_t pid() const noexcept { return origin_.pid; }
  [[nodiscard]] const std::string& function() const noexcept { return origin_.function; }
  [[nodiscard]] const std::string& type() const noexcept { return origin_.type; }
  [[nodiscard]] const std::string& message() const noexcept { return origin_.message; }

 private:
  origin origin_;
};

}  // namespace ham
