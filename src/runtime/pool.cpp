// Which node of a pool takes the next task.
#include "ham/offload/pool.hpp"

#include <algorithm>

#include "runtime/engine.hpp"

namespace ham::offload::detail {

pool_state::pool_state(engine& at, std::vector<node_t> nodes, std::size_t per_node) : at_(&at), per_node_(per_node) {
  if (nodes.empty())
    throw config_error(
        "a pool without nodes (none were named, or the job has no targets) could run nothing; name some");
  if (per_node == 0) throw config_error("a pool with room for no task (per_node is 0) could run nothing; set it to 1");
  for (const node_t node : nodes) members_.push_back({node});
}

std::size_t pool_state::busy() const {
  std::lock_guard guard(mutex_);
  std::size_t tasks = 0;
  for (const member& one : members_) tasks += one.tasks;
  return tasks;
}

std::size_t pool_state::living() const {
  std::lock_guard guard(mutex_);
  return static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(), [](const member& one) { return !one.lost; }));
}

std::size_t pool_state::try_enter(std::size_t limit) {
  std::lock_guard guard(mutex_);
  std::size_t best = none;
  bool any_lives = false;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t at = (next_ + i) % members_.size();
    if (members_[at].lost) continue;
    any_lives = true;
    if (members_[at].tasks < limit && (best == none || members_[at].tasks < members_[best].tasks)) best = at;
  }
  if (!any_lives) std::rethrow_exception(last_loss_);
  if (best == none) return none;
  ++members_[best].tasks;
  next_ = best + 1;
  return best;
}

std::size_t pool_state::enter() {
  for (;;) {
    if (const std::size_t place = try_enter(per_node_); place != none) return place;
    await([this] {
      std::lock_guard guard(mutex_);
      return std::any_of(members_.begin(), members_.end(),
                         [this](const member& one) { return one.lost || one.tasks < per_node_; });
    });
  }
}

void pool_state::leave(std::size_t place) noexcept {
  {
    std::lock_guard guard(mutex_);
    --members_[place].tasks;
  }
  notify();
}

void pool_state::exclude(std::size_t place, std::exception_ptr why) noexcept {
  std::lock_guard guard(mutex_);
  members_[place].lost = true;
  last_loss_ = std::move(why);
}

void pool_state::await(const std::function<bool()>& done) { at_->await(done); }

void pool_state::notify() noexcept { at_->waits.wake_finished(); }

void pool_state::await_idle() noexcept {
  if (busy() != 0) await([this] { return busy() == 0; });
}

bool is_loss_of(const std::exception_ptr& why, node_t of) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const node_failure& loss) {
    return loss.node() == of;
  } catch (...) {
    return false;
  }
}

std::vector<node_t> all_others() {
  std::vector<node_t> nodes;
  for (node_t node = 0; node < static_cast<node_t>(num_nodes()); ++node) {
    if (node != this_node() && alive(node)) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace ham::offload::detail
