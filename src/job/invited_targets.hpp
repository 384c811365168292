// Targets that wait at addresses: with which key they are invited, and in which order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "job/node_directory.hpp"
#include "job/node_list.hpp"
#include "job/target_plan.hpp"
#include "transport/network_factory.hpp"

namespace ham::inline v1::detail {

/// As in HAM_NODES: "tcp://10.0.0.7:7000".
[[nodiscard]] std::string name_of_server(const target_group& group);
[[nodiscard]] inline bool is_invited(const target_group& group) noexcept { return group.by->as_network() != nullptr; }

/// On the host; one thread at a time.
class invited_targets {
 public:
  /// `host` and `directory` outlive this. `key`: the file or descriptor of the key that servers want to see; empty:
  /// none.
  invited_targets(engine& host, node_directory& directory, std::string key)
      : host_(host), directory_(directory), key_from_(std::move(key)) {}

  /// Sees to it that the key is read, if any of `planned` is invited: processes that are started later need not inherit
  /// the descriptor it may be in. Throws ham::config_error.
  void prepare(const fresh_targets& planned);
  /// Invites all such targets of `fresh`, and has `await` wait for each. Throws ham::config_error.
  void invite(const fresh_targets& fresh, const std::function<void(node_t, const target_group&)>& await);
  /// Puts into the directory where a target that has come listens.
  void learn_address(node_t number, const target_group& group);

 private:
  [[nodiscard]] std::optional<transport::secret_key> key_for(const target_group& group);

  engine& host_;
  node_directory& directory_;
  const std::string key_from_;
  std::optional<transport::secret_key> key_;
};

}  // namespace ham::detail
