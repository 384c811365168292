// Targets that the host starts: by which transport, with which command, on which cores.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "job/node_list.hpp"
#include "job/placement.hpp"
#include "job/target_outputs.hpp"
#include "job/target_plan.hpp"
#include "runtime/engine.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::detail {

/// What starts a target: this program with its arguments, and where nodes run that nothing else is said of.
struct target_defaults {
  std::vector<std::string> command;
  placement_wish placement;
};

/// On a node that starts targets, which is the host or a rank; one thread at a time.
class started_targets {
 public:
  /// `host`: this node, which owns the transports and outlives this.
  started_targets(engine& host, target_defaults defaults);

  [[nodiscard]] const std::vector<std::string>& command() const noexcept { return defaults_.command; }
  /// Of those that have been started, or are about to be, and whose output can be led elsewhere. Any thread.
  [[nodiscard]] target_outputs& outputs() noexcept { return outputs_; }
  /// Starts those of `fresh` that a host starts, in a job of `nodes` nodes. Throws ham::config_error.
  void start(const fresh_targets& fresh, std::uint32_t nodes);
  /// Sees to it that a target which was told to end does so within `timeout`. Does not wait.
  void end(node_t node, std::chrono::milliseconds timeout);
  /// Whether a process has the place of `node`, also one that was removed and has not ended yet.
  [[nodiscard]] bool has_place_of(node_t node) const;

 private:
  /// Made when it is first needed.
  [[nodiscard]] transport::host_side& side_of(const transport::starting_factory& by);
  [[nodiscard]] transport::start_plan plan_for(const target_group& group, std::size_t member, node_t node) const;
  void expect_own_program(const fresh_targets& fresh) const;
  void place(const fresh_targets& fresh, transport::host_side& placer);

  engine& host_;
  const target_defaults defaults_;
  target_outputs outputs_;
  std::map<const transport::starting_factory*, std::unique_ptr<transport::host_side>> sides_;
  core_claims claims_;
  std::map<node_t, int> homes_;  ///< cores of nodes that have got one of their own
  bool places_;                  ///< nodes get cores of their own as long as there are enough
};

/// Tells a node of a job of ranks, with the numbers from `first` to before `end`, who starts which of all targets.
/// Before its first connection.
void set_routes(engine& at, const fresh_targets& all, node_t first, node_t end);

}  // namespace ham::detail
