// offload::pool: tasks that are sent where there is a place for them, and, if they may be, again.
#include "ham/offload/pool.hpp"

#include <new>
#include <string>
#include <utility>

#include "core/unobserved.hpp"
#include "ham/error_info.hpp"
#include "ham/offload/node.hpp"
#include "runtime/engine.hpp"
#include "runtime/pool_state.hpp"
#include "runtime/repeatable_call.hpp"
#include "runtime/stop_with_caller.hpp"

namespace ham::inline v1::offload::detail {
namespace {

[[nodiscard]] call_outcome outcome_of_loss(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const node_failure& loss) {
    return loss.outcome();
  } catch (...) {
    return call_outcome::may_have_run;
  }
}

/// A task that goes to another node when its own is lost. Once it was sent it owns itself, until its result is handed
/// over.
class repeated_task final : continuation, pool_waiter {
 public:
  repeated_task(std::shared_ptr<pool_state> with, repeatable_call what)
      : continuation{&on_settled},
        pool_waiter{[](pool_waiter& self, std::size_t to) noexcept { static_cast<repeated_task&>(self).go_to(to); }},
        state_(std::move(with)),
        what_(std::move(what)) {}
  repeated_task(const repeated_task&) = delete;
  repeated_task& operator=(const repeated_task&) = delete;
  ~repeated_task() {
    if (entered_) state_->leave(place_);
  }

  /// The slot of its result; nullptr: there is no room.
  [[nodiscard]] static call_slot* begin(std::unique_ptr<repeated_task> task, when_full policy) {
    engine& at = engine_of_runtime(task->state_->runtime());
    call_slot& target = *make_local_slot(at);
    task->target_ = &target;
    try {
      list_repeated(target, task->what_);
      if (!task->enter_and_send(policy)) {
        unlist_repeated(target);
        at.calls.cancel(target);
        return nullptr;
      }
    } catch (...) {
      unlist_repeated(target);
      at.calls.cancel(target);
      throw;
    }
    repeated_task& sent = *task.release();
    attach(*sent.call_, &sent);
    return &target;
  }

 private:
  static void on_settled(continuation* self) { static_cast<repeated_task*>(self)->settled(); }

  /// False: there is no room.
  bool enter_and_send(when_full policy) {
    for (;;) {
      place_ = state_->enter(policy);
      if (place_ == pool_state::none) return false;
      entered_ = true;
      const std::exception_ptr loss = send(policy);
      if (loss == nullptr) return call_ != nullptr;
      state_->exclude(place_, loss);
      entered_ = false;
      state_->leave(place_);
    }
  }

  /// Gives the error that says that the node of its place is lost. Without room for it with when_full::refuse there is
  /// no call then. Throws what else keeps it from being sent.
  [[nodiscard]] std::exception_ptr send(when_full policy) {
    call_ = nullptr;
    try {
      engine& at = engine_of_runtime(state_->runtime());
      call_ = send_repeatable(at, {state_->node(place_), 0, deadline_ns_}, what_, policy);
      if (call_ != nullptr) note_sent(*target_, *call_);
      return nullptr;
    } catch (const node_failure&) {
      std::exception_ptr why = std::current_exception();
      if (!state_->is_loss(place_, why, false)) throw;
      return why;
    }
  }

  /// Its call has settled. If the process has answered that it ends, that is decided when it has, or has not.
  void settled() noexcept {
    run = [](continuation* self) { static_cast<repeated_task*>(self)->conclude(); };
    const std::exception_ptr why = call_->has_failed() ? see_failure(*call_) : nullptr;
    if (!state_->awaits_loss(place_, why, this)) conclude();
  }

  void conclude() noexcept {
    run = &on_settled;
    std::exception_ptr why = call_->has_failed() ? see_failure(*call_) : nullptr;
    if (why != nullptr && state_->is_loss(place_, why, true)) {
      drop_failure(*call_);
      move_on(std::move(why));
      return;
    }
    if (why != nullptr && hides_a_run(why)) {
      drop_failure(*call_);
      fail(loss_);
      return;
    }
    unlist_repeated(*target_);
    what_.hand_over(*call_, *target_);
    delete this;
  }

  /// Whether it says that the task has not run, which is true of its last node only.
  [[nodiscard]] bool hides_a_run(const std::exception_ptr& why) const noexcept {
    if (loss_ == nullptr || outcome_of_loss(loss_) == call_outcome::not_run) return false;
    return says_not_run(why);
  }

  void move_on(std::exception_ptr why) noexcept {
    const std::shared_ptr<pool_state> pool = state_;  // this may go in there, and with it the last owner of the pool
    state_->exclude(place_, why);
    if (loss_ == nullptr || outcome_of_loss(loss_) == call_outcome::not_run) loss_ = std::move(why);
    if (++losses_ > state_->max_repetitions() || is_stopped(*target_)) {
      fail(loss_);
      return;
    }
    pool->move_on(std::exchange(place_, pool_state::none), *this);
  }

  void go_to(std::size_t place) noexcept {
    place_ = place;
    if (place == pool_state::none || is_stopped(*target_)) {
      fail(loss_);
      return;
    }
    try {
      if (std::exception_ptr why = send(when_full::wait); why != nullptr)
        move_on(std::move(why));
      else
        attach(*call_, this);
    } catch (...) {
      const bool may_have_run = loss_ != nullptr && outcome_of_loss(loss_) != call_outcome::not_run;
      fail(may_have_run ? loss_ : std::current_exception());
    }
  }

  void fail(std::exception_ptr why) noexcept {
    unlist_repeated(*target_);
    fail_local(*target_, std::move(why));
    delete this;
  }

  const std::shared_ptr<pool_state> state_;
  const repeatable_call what_;
  const std::int64_t deadline_ns_ =
      ham::detail::deadline_within_caller(state_->deadline_ns());  // also of what is sent later
  std::size_t place_ = pool_state::none;
  bool entered_ = false;  // counts as a task
  call_slot* target_ = nullptr;
  call_slot* call_ = nullptr;
  std::exception_ptr loss_;  // what its last node was lost by; of those that may have run it, the first one's
  std::size_t losses_ = 0;
};

}  // namespace

// ---- pools

std::shared_ptr<pool_state> make_pool_state(std::vector<node_t> nodes, std::size_t per_node, bool stoppable) {
  return std::make_shared<pool_state>(current(), nodes, per_node, stoppable);
}

std::vector<node_t> all_others() {
  std::vector<node_t> all = nodes();
  std::erase(all, this_node());
  return all;
}

call_place first_place(const pool_state& of) noexcept { return {of.node(0)}; }
std::size_t pending_tasks(const pool_state& of) { return of.pending(); }
std::size_t living_nodes(const pool_state& of) { return of.living(); }
void await_idle(pool_state& of) noexcept { of.await_idle(); }

// ---- tasks

pool_ticket::pool_ticket(std::shared_ptr<pool_state> pool) noexcept
    : continuation{[](continuation* self) { delete static_cast<pool_ticket*>(self); }}, of(std::move(pool)) {}

pool_ticket::~pool_ticket() {
  if (place != pool_state::none) of->leave(place);
}

std::unique_ptr<pool_ticket> enter_pool(const std::shared_ptr<pool_state>& pool, when_full policy) {
  auto ticket = std::make_unique<pool_ticket>(pool);
  ticket->place = pool->enter(policy);
  return ticket->place == pool_state::none ? nullptr : std::move(ticket);
}

destination destination_of(const pool_ticket& ticket) noexcept {
  destination to(ticket.of->node(ticket.place), 0, ticket.of->runtime());
  to.deadline_ns = ticket.of->deadline_ns();
  return to;
}

void exclude_or_rethrow(const pool_ticket& ticket) {
  const std::exception_ptr why = std::current_exception();
  if (!ticket.of->is_loss(ticket.place, why, false)) throw;
  ticket.of->exclude(ticket.place, why);
}

void leave_when_settled(std::unique_ptr<pool_ticket> ticket, call_slot& call) { attach(call, ticket.release()); }

call_slot* start_repeatable(const std::shared_ptr<pool_state>& pool, when_full policy, repeatable_call call) {
  return repeated_task::begin(std::make_unique<repeated_task>(pool, std::move(call)), policy);
}

}  // namespace ham::offload::detail
