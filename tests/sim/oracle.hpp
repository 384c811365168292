// What has been asked for, what has run, and what was answered: the sequential model of a job.
#pragma once

#include <climits>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ham/error.hpp"
#include "sim/supervised.hpp"

namespace ham::inline v1::sim {

/// In place of a node: the call may run on each.
inline constexpr node_t on_any_node = -1;

/// A call that the workload has made.
struct call_record {
  node_t target = -1;
  std::uint32_t stream = 0;    ///< calls of one stream begin in order; 0: of none
  std::uint32_t position = 0;  ///< in its stream
  unsigned runs = 0;
  bool ended = false;  ///< of a function that says so
  bool settled = false;
  bool never_runs = false;          ///< so its sender was told
  bool may_be_late = false;         ///< it has a deadline
  bool repeats = false;             ///< it may run more than once
  unsigned max_runs = 1;            ///< if it repeats
  node_t last_run = -1;             ///< the process of the latest run
  bool is_of_process = false;       ///< its target is a process, whatever number that has
  std::uint64_t epoch = 0;          ///< of its target's number, when it was made
  node_t prepares = -1;             ///< the process that it is to prepare, which nobody else may call yet
  bool made_by_another = false;     ///< by a call, whose node may be lost
  std::int64_t stop_asked_ns = -1;  ///< when its sender began to ask it to stop
  bool saw_no_stop = false;         ///< long after that
  bool unanswered = false;          ///< it has left, and nobody waits for it
};

/// What the threads of a device have done of a call.
struct call_parts {
  std::uint32_t size = 0;      ///< threads that execute it
  std::uint64_t begun = 0;     ///< a bit for each rank
  std::uint32_t added = 0;     ///< threads that have added to the sum
  std::uint32_t finished = 0;  ///< threads that have left the function
  std::int64_t sum = 0;
};

/// What a call prints: the line of this number, without its end. One that is long arrives cut.
[[nodiscard]] std::string printed_line(std::uint32_t call, std::uint32_t number);
[[nodiscard]] constexpr bool is_long_line(std::uint32_t number) noexcept { return number % 7 == 6; }
inline constexpr const char* long_text =
    "a text of a hundred characters, of which two are more than the message of a device takes at once";

/// One thread runs at a time, so that nothing here needs a lock. What is wrong ends the simulation.
class oracle {
 public:
  /// A new call; its number.
  std::uint32_t issue(node_t target, std::uint32_t stream = 0);
  /// The same for a process alone: by a handle.
  std::uint32_t issue_on(node_t process, std::uint32_t stream = 0);
  /// The same by the on_respawn of a number, for its process.
  std::uint32_t issue_to_prepare(node_t number, node_t process);
  /// The call begins on `node`.
  void begin(std::uint32_t call, node_t node);
  /// Its function ends.
  void end(std::uint32_t call) { calls_[call].ended = true; }
  /// Whether it has, on all threads of a device if that executes it.
  [[nodiscard]] bool has_ended(std::uint32_t call) const;
  // ---- of a device function, which each thread of the call executes
  /// A thread of this rank begins, before the call does.
  void begin_part(std::uint32_t call, std::uint32_t rank, std::uint32_t size);
  /// It adds to the sum of all, which is complete behind a barrier.
  void add_part(std::uint32_t call, std::int64_t value);
  [[nodiscard]] std::int64_t sum_of_parts(std::uint32_t call);
  void end_part(std::uint32_t call) { ++parts_here(call).finished; }
  /// Its caller has a result: no thread executes it any more.
  void expect_parts_ended(std::uint32_t call);

  // ---- of what a call prints
  /// A node has printed this.
  void note_printed(std::string_view line, node_t node);
  /// The call has printed so many lines; each at once, in order, and as printed_line() says.
  void expect_printed(std::uint32_t call, std::uint32_t lines);

  /// Of calls to a node each, with numbers from `first` on: the one to `node`.
  [[nodiscard]] std::uint32_t call_to(std::uint32_t first, node_t node) const;

  /// Its future has settled.
  void settle(std::uint32_t call);
  /// It has settled with a value.
  void settle(std::uint32_t call, std::int64_t value, std::int64_t expected);
  /// It has settled without a value: its function, which says so, has ended.
  void settle_ended(std::uint32_t call);
  /// It has failed, and this is what is known of it.
  void fail(std::uint32_t call, call_outcome outcome, const std::string& why);
  /// It has a deadline, and need not run.
  void allow_late(std::uint32_t call) { calls_[call].may_be_late = true; }
  /// It may run again.
  void allow_repeats(std::uint32_t call, unsigned max_runs = UINT_MAX) {
    calls_[call].repeats = true;
    calls_[call].max_runs = max_runs;
  }
  [[nodiscard]] unsigned runs_of(std::uint32_t call) const { return calls_[call].runs; }
  /// It was stopped, or has settled: no attempt follows, but one that is under way may still begin.
  void end_repeats(std::uint32_t call);
  /// Its target is lost, for this reason, which must be one.
  void expect_lost(std::uint32_t call, const std::string& why) const;
  /// Whether it is by a handle of a process that dies.
  [[nodiscard]] bool is_of_doomed(std::uint32_t call) const {
    return calls_[call].is_of_process && numbers.may_be_lost(calls_[call].target);
  }
  /// It has left, and nobody waits for it.
  void leave_unanswered(std::uint32_t call) { calls_[call].unanswered = true; }
  /// Calls from `first` on to the node that nobody waits for have run. The node lives, has always been the same
  /// process, and has answered a call behind them.
  void expect_unanswered_ran(std::uint64_t first, node_t node) const;
  /// It must not run from now on.
  void forbid(std::uint32_t call);
  /// Its sender begins to ask it to stop.
  void ask_to_stop(std::uint32_t call);
  /// It polls for a stop since then, and has not seen one. Whether it goes on: not if nobody asks, nor if the stop must
  /// have come.
  [[nodiscard]] bool goes_on_polling(std::uint32_t call, std::int64_t since_ns);
  /// It is made by another call.
  void set_nested(std::uint32_t call) { calls_[call].made_by_another = true; }
  /// Calls from `first` on have seen that they were stopped, but for those of lost nodes.
  void expect_stops_seen(std::uint64_t first, const std::set<node_t>& lost, bool any_lost) const;
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

  supervised_numbers numbers;

 private:
  /// Of the process whose thread calls: a call that is repeated has others on the next one.
  [[nodiscard]] call_parts& parts_here(std::uint32_t call);

  std::vector<call_record> calls_;
  std::map<std::pair<std::uint32_t, int>, call_parts> parts_;
  std::map<std::uint32_t, std::uint32_t> printed_;
  std::map<std::uint32_t, std::uint32_t> next_in_;
  std::map<std::pair<std::uint32_t, node_t>, std::uint32_t> begun_in_;  // on each process
  std::uint32_t streams_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace ham::sim
