// Who passes on what is for a node that this one has no medium in common with.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

#include "ham/offload/node.hpp"

namespace ham::inline v1::detail {

/// A target has one neighbour that passes things on: the node that has started it. Node 0 and nodes that start targets
/// of their own (`each:` in HAM_NODES) pass on what those send and get. Ranks know each other's targets from the start;
/// those of a waiting program only that one and the host know.
///
/// Starter and neighbours are set before the node's first connection; targets may be added later. Any thread.
class routes {
 public:
  explicit routes(node_t self) noexcept : self_(self) {}

  void set_starter(node_t node) noexcept { starter_ = node; }
  /// Nodes from `first` to before `end`, and 0, are connected with this one, or can be.
  void set_neighbours(node_t first, node_t end) noexcept {
    first_neighbour_ = first;
    end_of_neighbours_ = end;
  }
  /// `target` is started by `starter`, which need not be this node, nor one that it is connected with.
  void add(node_t target, node_t starter) {
    const std::lock_guard guard(mutex_);
    starters_[target] = starter;
    any_.store(true, std::memory_order_release);
  }

  /// Who has started this node: 0 unless it is said otherwise.
  [[nodiscard]] node_t starter() const noexcept { return starter_; }
  /// The neighbour that takes what is for `node`, which may be that node.
  [[nodiscard]] node_t hop_to(node_t node) const noexcept {
    if (starter_ != 0) return starter_;
    if (is_neighbour(node)) return node;
    const node_t by = starter_of(node);
    if (by != nobody) return by == self_ ? node : by;
    return self_ == 0 ? node : starter_;
  }
  /// Whether this node has started `node`, or will.
  [[nodiscard]] bool starts(node_t node) const noexcept { return starter_of(node) == self_; }
  /// How many targets this node starts.
  [[nodiscard]] std::size_t started() const noexcept {
    const std::lock_guard guard(mutex_);
    std::size_t count = 0;
    for (const auto& [target, starter] : starters_) count += starter == self_ ? 1 : 0;
    return count;
  }
  /// Whether it is this node's to pass on what one of the two sends to the other one.
  [[nodiscard]] bool joins(node_t one, node_t other) const noexcept {
    if (self_ == 0) return !is_neighbour(hop_to(one)) || !is_neighbour(hop_to(other));  // those have a way of their own
    return starts(one) || starts(other);
  }
  /// Calls visit(node) for each target that `hop`, another node, has started.
  template <class Visit>
  void for_each_behind(node_t hop, Visit visit) const {
    if (!any_.load(std::memory_order_acquire)) return;
    const std::lock_guard guard(mutex_);
    for (const auto& [target, starter] : starters_) {
      if (starter == hop && hop != self_) visit(target);
    }
  }
  [[nodiscard]] bool any_behind(node_t hop) const {
    bool any = false;
    for_each_behind(hop, [&](node_t) { any = true; });
    return any;
  }

 private:
  static constexpr node_t nobody = -1;

  [[nodiscard]] node_t starter_of(node_t target) const noexcept {
    if (!any_.load(std::memory_order_acquire)) return nobody;  // of most jobs
    const std::lock_guard guard(mutex_);
    const auto known = starters_.find(target);
    return known == starters_.end() ? nobody : known->second;
  }
  [[nodiscard]] bool is_neighbour(node_t node) const noexcept {
    return node >= first_neighbour_ && node < end_of_neighbours_;
  }

  const node_t self_;
  node_t starter_ = 0;
  node_t first_neighbour_ = 0;
  node_t end_of_neighbours_ = 0;
  std::atomic<bool> any_{false};
  mutable std::recursive_mutex mutex_;  ///< visits may ask again
  std::map<node_t, node_t> starters_;   // guarded by mutex_
};

}  // namespace ham::detail
