// The job as the host sees it: starts targets on this machine, reaches those on others, adds and removes.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ham/offload/runtime.hpp"
#include "runtime/compose_accelerators.hpp"
#include "runtime/links.hpp"
#include "runtime/node_list.hpp"
#include "runtime/placement.hpp"
#include "transport/network.hpp"
#include "transport/process_group.hpp"
#include "transport/shm/host_transport.hpp"

namespace ham::detail {

/// What starts a target: this program with its arguments, and where nodes run that nothing else is said of.
struct target_defaults {
  std::vector<std::string> command;
  placement_wish placement;
};

class host_job final : public links {
 public:
  /// `host` outlives this.
  host_job(engine& host, const runtime_options& options, target_defaults defaults);

  /// The processes of `group` become targets; waits until they can be called. Throws ham::config_error.
  void take(transport::process_group& group);
  /// Starts or reaches the targets of `groups`, waits until they can be called, and tells all nodes of each other.
  /// Gives the number of the first one. Throws ham::config_error; what had begun is ended then.
  node_t start(const std::vector<node_group>& groups);

  [[nodiscard]] bool uses_ranks() const { return has_ranks(); }

  node_t add(const std::string& group) override;
  node_t add(const offload::target_program& program) override;
  node_t spawn(const std::string& group, const std::string& program) override;
  void remove(node_t node, std::chrono::milliseconds patience) override;

 private:
  /// Made when it is first needed.
  [[nodiscard]] transport::shm::host_transport& local();
  node_t add_groups(std::vector<node_group> groups, const std::vector<std::string>& command);
  node_t spawn_ranks(std::size_t count, const std::vector<std::string>& command);
  [[nodiscard]] node_t free_numbers(std::size_t count);
  void tell_all();
  [[nodiscard]] transport::shm::target_plan plan_for(const node_group& group, std::size_t member, node_t node) const;
  std::optional<transport::secret_key> key_for_servers(const std::string& address);
  void invite(const node_group& group, node_t node);
  void invite_all(const std::vector<node_group>& groups, node_t first);
  void await(node_t node, const node_group& group);
  using fresh_targets = std::vector<std::pair<node_t, const node_group*>>;
  void start_processes(const fresh_targets& fresh, std::uint32_t nodes);
  void place(const fresh_targets& fresh);
  void end_process(node_t node, std::chrono::milliseconds patience = std::chrono::milliseconds(500));
  void learn_address(node_t node, const node_group& group);

  std::mutex one_at_a_time_;
  transport::shm::host_transport* local_ = nullptr;
  accelerators accelerators_;
  const runtime_options options_;
  const target_defaults defaults_;
  core_claims claims_;
  std::map<node_t, int> homes_;  ///< cores of nodes that have got one of their own
  bool places_;                  ///< nodes get cores of their own as long as there are enough
  std::optional<transport::secret_key> key_;
};

}  // namespace ham::detail
