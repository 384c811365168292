// Who belongs to a job: the host starts, invites, takes in, adds and removes targets.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "ham/offload/runtime.hpp"
#include "job/invited_targets.hpp"
#include "job/job_trace.hpp"
#include "job/node_directory.hpp"
#include "job/started_targets.hpp"
#include "job/supervisor.hpp"
#include "transport/launched_factory.hpp"

namespace ham::inline v1::detail {

/// On the host; any thread.
class membership final : private process_starter {
 public:
  /// `host` and `directory` outlive this.
  membership(engine& host, node_directory& directory, const runtime_options& options, target_defaults defaults)
      : host_(host),
        directory_(directory),
        started_(host, std::move(defaults)),
        invited_(host, directory, options.key),
        supervisor_(host, *this) {}

  /// Nodes that join from now on are part of it, which outlives this; nullptr: there is none.
  void trace_by(job_trace* trace) noexcept { trace_ = trace; }

  /// The processes of `group` become targets; waits until they can be called. Throws ham::config_error.
  void take(transport::process_group& group);
  /// From now on it is known that these targets come, by whomever they are started. Throws ham::config_error.
  void expect(const fresh_targets& planned);
  /// Starts or reaches the targets of `groups`, waits until they can be called, and tells all nodes of each other.
  /// Gives the number of the first one. Throws ham::config_error, or ham::deadline_exceeded at `deadline_ns`; what had
  /// begun is ended then.
  /// `stands_for`: the supervised number that the one target will have; negative: its own.
  node_t start(const std::vector<target_group>& groups, std::int64_t deadline_ns = base::never_ns,
               node_t stands_for = -1);
  /// The same with targets that expect() was told of.
  void start(const fresh_targets& expected);

  // ---- as ham::offload's functions of these names
  node_t add(const std::string& group, std::int64_t deadline_ns = base::never_ns);
  node_t add(const offload::target_program& program, std::int64_t deadline_ns = base::never_ns);
  node_t spawn(const std::string& group, const std::string& program, std::int64_t deadline_ns = base::never_ns);
  void remove(node_t node, std::chrono::milliseconds timeout);
  void supervise(node_t node, offload::supervision how);
  void on_output(node_t node, offload::output_handler handler);
  /// That of a process which the host itself has started or reached: who waits for it there, or its life watch, ends
  /// it.
  [[nodiscard]] bool ends_with_connection(node_t process);

  // ---- supervised nodes
  /// A node is lost. The receiving lock is held.
  void on_lost(node_t node, const std::string& why) noexcept { supervisor_.on_lost(node, why); }
  void on_heartbeat(node_t node) noexcept { supervisor_.on_heartbeat(node); }
  /// Nothing is started again from now on. Does not wait.
  void end_supervision() noexcept { supervisor_.end(); }
  /// The same, and waits for what is under way.
  void stop_supervision() noexcept { supervisor_.stop(); }

 private:
  // ---- process_starter
  [[nodiscard]] node_t start_again(node_t number) override;
  void end(node_t process) noexcept override;
  void end_lost(node_t process) noexcept override;
  void announce_numbers() noexcept override;

  void end_target(node_t process, const std::string& why, std::chrono::milliseconds timeout);
  void forget(node_t process);
  void remember_groups(const fresh_targets& planned);
  [[nodiscard]] std::string why_not_supervised(node_t number) const;
  void start_planned(const fresh_targets& planned, std::int64_t deadline_ns);
  void end_process(node_t number, std::chrono::milliseconds timeout);
  node_t add_groups(std::vector<target_group> groups, const std::vector<std::string>& command,
                    std::int64_t deadline_ns);
  node_t spawn_ranks(const target_group& group, const std::vector<std::string>& command, std::int64_t deadline_ns);
  [[nodiscard]] node_t free_numbers(std::size_t count, std::int64_t deadline_ns);
  void start_all(const fresh_targets& fresh, std::uint32_t nodes, std::int64_t deadline_ns);
  void admit(transport::process_group& group);
  void trace(node_t first, std::size_t count) noexcept;
  static void warn_of_own_output(node_t number);
  static void warn_of_own_outputs(const fresh_targets& planned);
  void await(node_t node, const target_group& group, std::int64_t deadline_ns);

  engine& host_;
  node_directory& directory_;
  std::mutex one_at_a_time_;
  started_targets started_;
  invited_targets invited_;
  job_trace* trace_ = nullptr;
  std::mutex groups_mutex_;
  std::map<node_t, target_group> groups_;  ///< of one target each: how those are started again
  supervisor supervisor_;
};

}  // namespace ham::detail
