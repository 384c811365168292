// Which node of a pool takes the next task, and who waits for room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/biased_lock.hpp"
#include "ham/error.hpp"
#include "ham/offload/detail/engine_api.hpp"
#include "runtime/pool_naps.hpp"
#include "runtime/pool_room.hpp"

namespace ham::inline v1::offload::detail {

using namespace ham::detail;

/// What waits for a place: a thread, or a task that goes to another node.
struct pool_waiter {
  /// Has that place now, or pool_state::none, because no node is left. Nobody holds a lock; may end the waiter.
  void (*take)(pool_waiter& self, std::size_t place) noexcept;
  pool_waiter* next = nullptr;
};

/// Gives a local slot back that a thread has waited for. False: it has settled because its runtime has ended.
[[nodiscard]] bool release_awaited(call_slot& slot) noexcept;

/// Waiters in order, which stay their owners'.
class waiter_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push_back(pool_waiter& one) noexcept;
  void push_front(pool_waiter& one) noexcept;
  [[nodiscard]] pool_waiter& pop() noexcept;
  /// False: it is not there.
  bool remove(pool_waiter& one) noexcept;

 private:
  pool_waiter* first_ = nullptr;
  pool_waiter* last_ = nullptr;
};

/// What is said later of a node that is lost.
struct loss_of_node {
  node_failure::details of;
  std::string text;
};

/// Counts the tasks of each node. Any thread; no lock is held while others are called.
class pool_state : public std::enable_shared_from_this<pool_state> {
 public:
  static constexpr std::size_t none = SIZE_MAX;

  /// `per_node`: as pool_options has it. Throws ham::config_error.
  pool_state(engine& at, const std::vector<node_t>& nodes, std::size_t per_node, bool stoppable = false);
  pool_state(const pool_state&) = delete;
  pool_state& operator=(const pool_state&) = delete;

  [[nodiscard]] node_t node(std::size_t place) const noexcept { return members_[place].node; }
  [[nodiscard]] std::uint64_t runtime() const noexcept { return runtime_; }
  /// Tasks that have begun and not left, wherever they are now.
  [[nodiscard]] std::size_t pending() const;
  [[nodiscard]] std::size_t living() const;

  /// A place for a new task: on the node that has the fewest. Waits for room, unless the calling thread executes a call
  /// or a continuation, or gives `none` with when_full::refuse. Throws ham::node_failure if no node is left.
  [[nodiscard]] std::size_t enter(when_full policy);
  /// A task is over. `place` may be none.
  void leave(std::size_t place) noexcept;
  /// A task goes on at another place, before all that wait: its waiter is given it, now or later.
  void move_on(std::size_t place, pool_waiter& task) noexcept;
  /// That node gets no more tasks; one that is supervised, until its next process is there.
  void exclude(std::size_t place, const std::exception_ptr& why) noexcept;
  /// Of tasks: base::never_ns if they can be stopped while they run, else 0.
  [[nodiscard]] std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
  /// How often a task that may be repeated is sent again at most.
  [[nodiscard]] std::size_t max_repetitions() const noexcept { return members_.size(); }
  /// Whether an error says that the node of `place` is lost. Of a call that was `sent`, the error may also be that of a
  /// call which its function has made, on whatever node: then this node must have lost it as well.
  [[nodiscard]] bool is_loss(std::size_t place, const std::exception_ptr& why, bool sent) const noexcept;
  /// Whether an error says that the process of `place` ends because of it, while its loss has not been noted yet: then
  /// `what` is run when that is, or when it has taken too long.
  [[nodiscard]] bool awaits_loss(std::size_t place, const std::exception_ptr& why, continuation* what) const noexcept;

  /// Until no task is pending, or the runtime has ended.
  void await_idle() noexcept;

 private:
  struct member {
    node_t node;
    std::size_t tasks = 0;
    bool lost = false;
    bool restarting = false;
  };
  struct return_notice;

  [[nodiscard]] std::size_t claim(std::size_t limit, bool also_restarting = false) noexcept;
  [[nodiscard]] bool is_of_place(std::size_t place, node_t process) const noexcept;
  [[nodiscard]] bool awaits_return(std::size_t place) noexcept;
  void come_back(std::size_t place) noexcept;
  [[nodiscard]] std::size_t wait_for_place();
  [[nodiscard]] std::int64_t next_nap_ns(const call_slot& awaited);
  void hand_out(std::unique_lock<base::biased_lock>& guard) noexcept;
  [[nodiscard]] node_failure none_left() const;

  const std::uint64_t runtime_;
  const std::int64_t deadline_ns_;
  mutable base::biased_lock lock_;  ///< of what follows; most pools are one thread's
  std::vector<member> members_;
  std::size_t living_;
  std::size_t tasks_ = 0;
  std::uint64_t ended_ = 0;  // tasks that have left a place
  pool_room room_;
  pool_naps naps_;
  std::size_t next_ = 0;  // of those with equally few tasks
  waiter_list waiting_;   // for room
  waiter_list idle_;      // until there are no tasks
  loss_of_node last_loss_;
};

}  // namespace ham::offload::detail
