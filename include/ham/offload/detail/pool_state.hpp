// Which node of a pool takes the next task, and who waits for room. Internal.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ham/offload/detail/engine_api.hpp"

namespace ham::offload::detail {

using namespace ham::detail;

/// Counts the tasks of each node. Any thread.
class pool_state {
 public:
  static constexpr std::size_t none = SIZE_MAX;

  /// Throws ham::config_error for no nodes, or no room.
  pool_state(engine& at, std::vector<node_t> nodes, std::size_t per_node);

  [[nodiscard]] node_t node(std::size_t place) const noexcept { return members_[place].node; }
  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  [[nodiscard]] std::size_t per_node() const noexcept { return per_node_; }
  [[nodiscard]] std::size_t busy() const;
  [[nodiscard]] std::size_t living() const;

  /// Counts a task to the living node that has the fewest, if that has less than `limit`; else `none`. Throws what the
  /// last of them was lost by.
  [[nodiscard]] std::size_t try_enter(std::size_t limit);
  /// The same with a wait for room, which makes progress.
  [[nodiscard]] std::size_t enter();
  /// A task of that place has settled, or was not sent.
  void leave(std::size_t place) noexcept;
  /// That node is lost: it gets no more tasks.
  void exclude(std::size_t place, std::exception_ptr why) noexcept;

  /// Makes progress until `done`, which other threads call, too; changes are told by leave() and notify().
  void await(const std::function<bool()>& done);
  void notify() noexcept;
  /// Until no task is left.
  void await_idle() noexcept;

 private:
  struct member {
    node_t node;
    std::size_t tasks = 0;
    bool lost = false;
  };
  engine* const at_;
  const std::size_t per_node_;
  mutable std::mutex mutex_;
  std::vector<member> members_;
  std::size_t next_ = 0;  // of those with equally few tasks
  std::exception_ptr last_loss_;
};

/// Whether an error says that the node `of` is lost, or cannot be reached.
[[nodiscard]] bool is_loss_of(const std::exception_ptr& why, node_t of) noexcept;
/// All nodes of the job but this one.
[[nodiscard]] std::vector<node_t> all_others();

/// A task of a place of a pool, from its start to where it is given over.
class pool_place {
 public:
  pool_place(std::shared_ptr<pool_state> of, std::size_t place) noexcept : of_(std::move(of)), place_(place) {}
  pool_place(pool_place&& other) noexcept : of_(std::move(other.of_)), place_(other.place_) {}
  pool_place& operator=(pool_place&&) = delete;
  ~pool_place() {
    if (of_ != nullptr) of_->leave(place_);
  }
  [[nodiscard]] node_t node() const noexcept { return of_->node(place_); }
  void exclude(std::exception_ptr why) const noexcept { of_->exclude(place_, std::move(why)); }

 private:
  std::shared_ptr<pool_state> of_;
  std::size_t place_;
};

}  // namespace ham::offload::detail
