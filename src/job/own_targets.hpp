// Targets of a node that is not the host: a rank, or a waiting program, with accelerators of its own.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "job/node_directory.hpp"
#include "job/notices.hpp"
#include "job/started_targets.hpp"
#include "job/target_plan.hpp"

namespace ham::inline v1::detail {

/// They are nodes of the whole job, reached through this node. One thread at a time.
class own_targets {
 public:
  explicit own_targets(target_defaults how) : how_(std::move(how)) {}

  /// Before the node's first connection; both outlive the use of this. The host may ask to end some.
  void attach(engine& node, node_directory& directory);
  /// Starts them, in a job of `nodes` nodes. Those that cannot be started are said to be lost, with the reason.
  /// `relays`: a thread passes on for them while a function runs here. By the serving thread.
  void start(const fresh_targets& own, std::size_t nodes, bool relays);
  /// The same as a host asks for it, with numbers that are expected already. Groups are not trusted: one that cannot be
  /// is lost with all its numbers.
  void start(const start_request& request);
  /// When this node has left the job.
  void end();

 private:
  void end_one(node_t node, std::chrono::milliseconds timeout) { targets_->end(node, timeout); }

  target_defaults how_;
  engine* node_ = nullptr;
  std::unique_ptr<started_targets> targets_;
  std::vector<transport::target_group> groups_;  ///< that a host has asked for
  fresh_targets own_;
};

}  // namespace ham::detail
