// The targets that a host has started, and which of them have been connected with each other.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/memory_file.hpp"
#include "base/unique_fd.hpp"
#include "transport/shm/started_target.hpp"

namespace ham::inline v1::transport::shm {

/// Not thread-safe: the control thread's.
class target_group {
 public:
  target_group();

  /// Rings for two nodes, with an epoch that no others of this host have. Throws ham::config_error.
  [[nodiscard]] base::mapping make_pair(base::unique_fd& file, std::uint32_t& epoch);

  void add(std::unique_ptr<started_target> fresh) { targets_.push_back(std::move(fresh)); }
  /// nullptr: none of that number.
  [[nodiscard]] started_target* find(node_t node) noexcept;
  /// Connects two targets, once. If that cannot be, both are refused, and who asks later is heard again.
  void introduce(started_target& first, node_t second);
  /// The process of `one` has gone, or, unless it has `ended` for sure, is none of this host's any more. Its peers are
  /// told: what they have seen in shared memory may be forged.
  void release(started_target& one, bool ended);
  /// Those that are used no more, and whose processes are gone.
  std::vector<node_t> drop_ended();
  void hang_up() noexcept;

 private:
  [[nodiscard]] bool connect(started_target& first, started_target& second);

  std::uint32_t next_epoch_;
  std::vector<std::unique_ptr<started_target>> targets_;
  std::set<std::pair<node_t, node_t>> introduced_;  // the lower one first
};

}  // namespace ham::transport::shm
