// What the nodes of a group have answered: a value or an error for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v1::offload {

/// Where a node stands in a group. As a parameter of a function of a group it is the place of the node that executes
/// it, whatever the caller gives; so also device functions know it, for which there is no this_call.
struct group_place {
  std::uint32_t position = 0;  ///< in the order of the group
  std::uint32_t size = 0;      ///< nodes of the group
};

/// Why a node of a group has given no result.
struct group_failure {
  node_t node = -1;          ///< of the group
  std::exception_ptr error;  ///< never nullptr
};

/// Some nodes of a group have failed. The text names them, and says of the first few what has happened. One that a
/// function throws crosses as itself, with the errors of the nodes.
class group_error : public error {
 public:
  /// `nodes`: of the group. At least one failure, and at most one for each node. Throws std::invalid_argument for
  /// others, and for a failure without an error.
  group_error(std::vector<group_failure> failures, std::size_t nodes);

  /// In the order of the group. That of a node behind one that was lost is the ham::node_failure of the lost one.
  [[nodiscard]] const std::vector<group_failure>& failures() const noexcept { return failures_; }
  /// How many nodes the group has.
  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }

 private:
  std::vector<group_failure> failures_;
  std::size_t nodes_;
};

namespace detail {

[[noreturn]] void throw_group_error(std::vector<group_failure> failures, std::size_t nodes);
/// `what` at a position that the group does not have. Throws std::out_of_range.
[[noreturn]] void throw_no_position(std::size_t position, std::size_t nodes);
[[noreturn]] void rethrow_group_failure(const std::exception_ptr& what);

/// What results of all types share.
class group_outcome {
 public:
  group_outcome() = default;
  explicit group_outcome(std::vector<node_t> nodes) : nodes_(std::move(nodes)), errors_(nodes_.size()) {}

  /// Nodes of the group. Positions, here and below, are those of nodes().
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] const std::vector<node_t>& nodes() const noexcept { return nodes_; }
  /// Whether every node has a value.
  [[nodiscard]] bool all_ok() const noexcept {
    for (const std::exception_ptr& one : errors_)
      if (one != nullptr) return false;
    return true;
  }
  [[nodiscard]] bool ok(std::size_t position) const { return error(position) == nullptr; }
  /// nullptr: the node has a value. Throws std::out_of_range.
  [[nodiscard]] const std::exception_ptr& error(std::size_t position) const {
    if (position >= errors_.size()) throw_no_position(position, errors_.size());
    return errors_[position];
  }
  /// Those without a value, in the order of the group.
  [[nodiscard]] std::vector<group_failure> failures() const {
    std::vector<group_failure> found;
    for (std::size_t at = 0; at < errors_.size(); ++at)
      if (errors_[at] != nullptr) found.push_back({nodes_[at], errors_[at]});
    return found;
  }
  /// Throws group_error if a node has failed.
  void check() const {
    if (!all_ok()) throw_group_error(failures(), nodes_.size());
  }

 protected:
  friend struct group_result_access;
  std::vector<node_t> nodes_;
  std::vector<std::exception_ptr> errors_;
};

/// Fills results, for the library.
struct group_result_access {
  static void fail(group_outcome& of, std::size_t position, std::exception_ptr why) {
    of.errors_[position] = std::move(why);
  }
  template <class To, class Value>
  static void fill(To& of, std::size_t position, Value&& value) {
    of.values_[position].emplace(static_cast<Value&&>(value));
  }
};

}  // namespace detail

/// The results of one call on all nodes of a group, in the order of the group. Some nodes may have failed: each has a
/// value or an error. A value type.
template <class Result>
class group_result : public detail::group_outcome {
 public:
  group_result() = default;
  /// For the library, which fills it in: of these nodes, none has an error, or a value yet.
  explicit group_result(std::vector<node_t> nodes) : group_outcome(std::move(nodes)), values_(size()) {}

  /// Of one node. Throws its error if it has failed, std::out_of_range for a wrong position.
  [[nodiscard]] const Result& value(std::size_t position) const {
    if (const std::exception_ptr& why = error(position); why != nullptr) detail::rethrow_group_failure(why);
    return *values_[position];
  }
  [[nodiscard]] const Result& operator[](std::size_t position) const { return value(position); }
  /// All of them, in the order of the group. Throws group_error if a node has failed.
  [[nodiscard]] std::vector<Result> values() const& {
    check();
    std::vector<Result> all;
    all.reserve(values_.size());
    for (const std::optional<Result>& one : values_) all.push_back(*one);
    return all;
  }
  [[nodiscard]] std::vector<Result> values() && {
    check();
    std::vector<Result> all;
    all.reserve(values_.size());
    for (std::optional<Result>& one : values_) all.push_back(*std::move(one));
    return all;
  }

 private:
  friend struct detail::group_result_access;
  std::vector<std::optional<Result>> values_;
};

/// The same of a function that returns nothing.
template <>
class group_result<void> : public detail::group_outcome {
 public:
  using group_outcome::group_outcome;
  /// Throws group_error if a node has failed.
  void values() const { check(); }
};

}  // namespace ham::offload
