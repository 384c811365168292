// Which processes have had which number, and which of them are to die: the model of supervision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "ham/misc/types.hpp"

namespace ham::inline v1::sim {

/// Nodes are given as the job of the calling thread numbers them. One thread runs at a time, so that nothing here needs
/// a lock. What is wrong ends the simulation.
class supervised_numbers {
 public:
  /// From now on, or again with another limit.
  void supervise(node_t number, std::size_t max_restarts);
  /// It is removed.
  void release(node_t number);
  /// Whether it is, or was, a supervised number.
  [[nodiscard]] bool knows(node_t number) const;
  /// And not removed, by a job that has not ended.
  [[nodiscard]] bool supervises(node_t number) const;

  /// on_respawn is called: the process is the next one of the number.
  void begin_respawn(node_t number, node_t process, std::uint64_t epoch);
  /// It has prepared the process: others may call it.
  void end_respawn(node_t process);
  [[nodiscard]] node_t number_of(node_t process) const;
  [[nodiscard]] bool is_prepared(node_t process) const;
  /// Of the latest process.
  [[nodiscard]] std::uint64_t epoch_of(node_t number) const;
  /// Processes of the number that were prepared; of these, those that are not about to end.
  [[nodiscard]] std::size_t prepared(node_t number) const;
  [[nodiscard]] std::size_t prepared_to_stay(node_t number) const;
  /// Others may call the next one of its number.
  [[nodiscard]] bool is_replaced(node_t process) const;

  /// The process is about to end: what it does may fail from now on.
  void doom(node_t process);
  [[nodiscard]] bool is_doomed(node_t process) const;
  /// Of the processes of a number that are about to end those that are still there.
  [[nodiscard]] std::size_t doomed_alive(node_t number) const;
  /// The host of this thread's job ends: its calls that have not settled fail.
  void end_job();
  /// Any process of the number, or the process.
  [[nodiscard]] bool may_be_lost(node_t node) const;
  /// Whether a call to the number, made when `epoch` was the latest one, may find a process that dies.
  [[nodiscard]] bool may_fail(node_t number, std::uint64_t epoch) const;
  /// Whether that may be so more often than it is repeated, or there may be no other process.
  [[nodiscard]] bool may_fail_repeated(node_t number, std::uint64_t epoch, std::size_t times) const;
  /// The number is said to be given up.
  void expect_limit_reached(node_t number) const;

 private:
  struct number_record {
    std::size_t min_restarts = SIZE_MAX;  ///< the least limit that it has had
    std::uint64_t epoch = 0;
    bool removed = false;
  };
  struct process_record {
    int number = -1;
    std::uint64_t epoch = 0;
    bool prepared = false;
  };
  /// Of all jobs.
  [[nodiscard]] static int place_of(node_t node);
  [[nodiscard]] std::size_t deaths(int number, std::uint64_t since) const;
  [[nodiscard]] bool may_be_given_up(int number) const;

  std::map<int, number_record> numbers_;
  std::map<int, process_record> processes_;  // but for the first ones
  std::set<int> doomed_;
  std::set<int> ended_jobs_;  ///< the places of their hosts
};

}  // namespace ham::sim
