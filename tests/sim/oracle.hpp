// What has been asked for, what has run, and what was answered: the sequential model of a job.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v0::sim {

/// A call that the workload has made.
struct call_record {
  node_t target = -1;
  std::uint32_t stream = 0;    ///< calls of one stream begin in order; 0: of none
  std::uint32_t position = 0;  ///< in its stream
  unsigned runs = 0;
  bool settled = false;
  bool never_runs = false;   ///< so its sender was told
  bool may_be_late = false;  ///< it has a deadline
};

/// One thread runs at a time, so that nothing here needs a lock. What is wrong ends the simulation.
class oracle {
 public:
  /// A new call; its number.
  std::uint32_t issue(node_t target, std::uint32_t stream = 0);
  /// The call begins on `node`.
  void begin(std::uint32_t call, node_t node);
  /// Its future has settled.
  void settle(std::uint32_t call);
  /// It has settled with a value.
  void settle(std::uint32_t call, std::int64_t value, std::int64_t expected);
  /// It has failed, and this is what is known of it.
  void fail(std::uint32_t call, call_outcome outcome, const std::string& why);
  /// It has a deadline, and need not run.
  void allow_late(std::uint32_t call) { calls_[call].may_be_late = true; }
  /// The next stream of calls that begin in order.
  std::uint32_t new_stream() { return ++streams_; }
  /// All calls of the stream so far must have run.
  void expect_all_ran(std::uint32_t stream);
  /// On stderr: calls that have not settled.
  void print_unanswered() const;
  [[nodiscard]] std::uint64_t issued() const noexcept { return calls_.size(); }
  [[nodiscard]] std::uint64_t executed() const noexcept { return executed_; }
  [[nodiscard]] std::uint64_t failed() const noexcept { return failed_; }
  [[nodiscard]] node_t target_of(std::uint32_t call) const { return calls_[call].target; }
  [[nodiscard]] std::string describe(std::uint32_t call) const;

 private:
  std::vector<call_record> calls_;
  std::map<std::uint32_t, std::uint32_t> next_in_, begun_in_;
  std::uint32_t streams_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace ham::sim
