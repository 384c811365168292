// Who belongs to a job: the host starts, invites, takes in, adds and removes targets.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "ham/offload/runtime.hpp"
#include "job/invited_targets.hpp"
#include "job/node_directory.hpp"
#include "job/started_targets.hpp"
#include "transport/launched_factory.hpp"

namespace ham::inline v0::detail {

/// On the host; any thread.
class membership {
 public:
  /// `host` and `directory` outlive this.
  membership(engine& host, node_directory& directory, const runtime_options& options, target_defaults defaults)
      : host_(host),
        directory_(directory),
        started_(host, std::move(defaults)),
        invited_(host, directory, options.key) {}

  /// The processes of `group` become targets; waits until they can be called. Throws ham::config_error.
  void take(transport::process_group& group);
  /// From now on it is known that these targets come, by whomever they are started. Throws ham::config_error.
  void expect(const fresh_targets& planned);
  /// Starts or reaches the targets of `groups`, waits until they can be called, and tells all nodes of each other.
  /// Gives the number of the first one. Throws ham::config_error, or ham::deadline_exceeded at `deadline_ns`; what had
  /// begun is ended then.
  node_t start(const std::vector<target_group>& groups, std::int64_t deadline_ns = base::never_ns);
  /// The same with targets that expect() was told of.
  void start(const fresh_targets& expected);

  // ---- as ham::offload's functions of these names
  node_t add(const std::string& group, std::int64_t deadline_ns = base::never_ns);
  node_t add(const offload::target_program& program, std::int64_t deadline_ns = base::never_ns);
  node_t spawn(const std::string& group, const std::string& program, std::int64_t deadline_ns = base::never_ns);
  void remove(node_t node, std::chrono::milliseconds timeout);

 private:
  void start_planned(const fresh_targets& planned, std::int64_t deadline_ns);
  void end_process(node_t number, std::chrono::milliseconds timeout);
  node_t add_groups(std::vector<target_group> groups, const std::vector<std::string>& command,
                    std::int64_t deadline_ns);
  node_t spawn_ranks(const target_group& group, const std::vector<std::string>& command, std::int64_t deadline_ns);
  [[nodiscard]] node_t free_numbers(std::size_t count, std::int64_t deadline_ns);
  void start_all(const fresh_targets& fresh, std::uint32_t nodes, std::int64_t deadline_ns);
  void await(node_t node, const target_group& group, std::int64_t deadline_ns);

  engine& host_;
  node_directory& directory_;
  std::mutex one_at_a_time_;
  started_targets started_;
  invited_targets invited_;
};

}  // namespace ham::detail
