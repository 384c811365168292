// Places for tasks: to the least busy node, first come, first served.
#include "runtime/pool_state.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "core/node_loss.hpp"
#include "runtime/engine.hpp"
#include "runtime/executing.hpp"
#include "runtime/forks.hpp"

namespace ham::inline v1::offload::detail {
namespace {

void check_nodes(const engine& at, const std::vector<node_t>& nodes) {
  if (nodes.empty())
    throw config_error(
        "a pool has no nodes (none were named, or the job has no other ones); name those that shall work");
  for (auto one = nodes.begin(); one != nodes.end(); ++one) {
    if (*one < 0 || static_cast<std::size_t>(*one) >= at.peers.size())
      throw config_error("a pool has node " + std::to_string(*one) + " (the job has nodes 0 to " +
                         std::to_string(at.peers.size() - 1) + "); name some of these");
    if (std::find(nodes.begin(), one, *one) != one)
      throw config_error("a pool has node " + std::to_string(*one) + " twice; name each node once");
  }
}

/// Empty where there is no memory.
loss_of_node describe(const std::exception_ptr& why) noexcept {
  loss_of_node result;
  try {
    try {
      std::rethrow_exception(why);
    } catch (const node_failure& loss) {
      result.of.node = loss.node();
      result.of.pid = loss.pid();
      result.of.host = loss.host();
      result.text = loss.what();
    }
  } catch (...) {  // also of the texts
  }
  return result;
}

/// A thread that makes progress meanwhile.
struct waiting_thread : pool_waiter {
  explicit waiting_thread(engine& at)
      : pool_waiter{[](pool_waiter& self, std::size_t given) noexcept {
          auto& me = static_cast<waiting_thread&>(self);
          me.place = given;
          if (!me.slot.settled()) settle_local(me.slot, slot_state::value);  // from here on it may have gone
        }},
        slot(*make_local_slot(at)) {}
  /// False: the runtime has ended, and nobody may have called take().
  [[nodiscard]] bool wait() {
    wait_slot(slot, INT64_MAX);
    return release_awaited(slot);
  }

  call_slot& slot;
  std::size_t place = pool_state::none;
};

}  // namespace

bool release_awaited(call_slot& slot) noexcept {
  if (!slot.has_failed()) {
    release_slot(slot);
    return true;
  }
  static_cast<void>(see_failure(slot));
  drop_failure(slot);
  return false;
}

// ---- lists

void waiter_list::push_back(pool_waiter& one) noexcept {
  one.next = nullptr;
  (first_ == nullptr ? first_ : last_->next) = &one;
  last_ = &one;
}

void waiter_list::push_front(pool_waiter& one) noexcept {
  one.next = first_;
  if (first_ == nullptr) last_ = &one;
  first_ = &one;
}

pool_waiter& waiter_list::pop() noexcept {
  pool_waiter& oldest = *first_;
  first_ = oldest.next;
  return oldest;
}

bool waiter_list::remove(pool_waiter& one) noexcept {
  pool_waiter* before = nullptr;
  for (pool_waiter* at = first_; at != nullptr; before = at, at = at->next) {
    if (at != &one) continue;
    (before == nullptr ? first_ : before->next) = one.next;
    if (last_ == &one) last_ = before;
    return true;
  }
  return false;
}

// ---- places

pool_state::pool_state(engine& at, const std::vector<node_t>& nodes, std::size_t per_node, bool stoppable)
    : runtime_(at.serial), deadline_ns_(stoppable ? base::never_ns : 0), living_(nodes.size()), room_(per_node) {
  check_nodes(at, nodes);
  for (const node_t node : nodes) members_.push_back({node});
}

std::size_t pool_state::pending() const {
  const std::lock_guard guard(lock_);
  return tasks_;
}

std::size_t pool_state::living() const {
  const std::lock_guard guard(lock_);
  return living_;
}

/// The lock is held.
std::size_t pool_state::claim(std::size_t limit, bool also_restarting) noexcept {
  std::size_t best = none;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t at = (next_ + i) % members_.size();
    const member& one = members_[at];
    if (one.lost || one.tasks >= limit || (one.restarting && !also_restarting)) continue;
    if (best == none || one.tasks < members_[best].tasks) best = at;
  }
  if (best == none) return none;
  ++members_[best].tasks;
  next_ = best + 1;
  return best;
}

std::size_t pool_state::enter(when_full policy) {
  // Room may depend on the very call that asks for it.
  const bool must_not_wait = policy == when_full::wait && executes_something();
  {
    std::unique_lock guard(lock_);
    if (living_ == 0) {
      guard.unlock();
      throw none_left();
    }
    std::size_t place = must_not_wait ? claim(none) : waiting_.empty() ? claim(room_.of_node()) : none;
    if (place == none && must_not_wait) place = claim(none, true);
    if (place != none) {
      ++tasks_;
      return place;
    }
    if (policy == when_full::refuse) return none;
  }
  return wait_for_place();
}

std::size_t pool_state::wait_for_place() {
  waiting_thread me(engine_of_runtime(runtime_));
  {
    std::unique_lock guard(lock_);
    ++tasks_;
    waiting_.push_back(me);
    hand_out(guard);
  }
  if (const std::int64_t nap_ns = next_nap_ns(me.slot); nap_ns != 0) base::sleep_ns(nap_ns);
  if (!me.wait()) {
    std::unique_lock guard(lock_);
    static_cast<void>(waiting_.remove(me));
    guard.unlock();
    leave(me.place);
    throw config_error(
        "a task cannot be sent (the runtime of its pool has ended); end what uses it before its runtime");
  }
  if (me.place == none) {
    leave(none);
    throw none_left();
  }
  return me.place;
}

/// If cores are few, handles what has arrived. 0: that was enough, or this thread does not sleep.
std::int64_t pool_state::next_nap_ns(const call_slot& awaited) {
  engine* const at = find_engine(runtime_);
  if (at == nullptr) return 0;
  if (!at->oversubscribed()) {
    const std::lock_guard guard(lock_);
    room_.be_few();
    return 0;
  }
  constexpr int max_polls = 64;  // then the usual wait, which gives way to who needs the core
  for (int polls = 0; at->poll_once(); ++polls) {
    if (awaited.settled() || polls == max_polls) return 0;
  }
  if (awaited.settled()) return 0;
  std::unique_lock guard(lock_);
  if (room_.adapt(ended_, living_, base::now_ns())) {
    hand_out(guard);
    return 0;
  }
  const std::int64_t nap_ns = naps_.next_ns(ended_, room_.of_node() * living_);
  return awaited.settled() ? 0 : nap_ns;
}

void pool_state::leave(std::size_t place) noexcept {
  std::unique_lock guard(lock_);
  if (place != none) {
    --members_[place].tasks;
    ++ended_;
  }
  if (--tasks_ == 0) room_.start_anew();
  hand_out(guard);
}

void pool_state::move_on(std::size_t place, pool_waiter& task) noexcept {
  std::unique_lock guard(lock_);
  --members_[place].tasks;
  waiting_.push_front(task);
  hand_out(guard);
}

/// Gives places to those that wait, or tells them that there never will be any. Tasks that fail then, or were stopped,
/// leave, and who leaves hands out: beyond some depth the calls further out go on, since no stack has room for all.
void pool_state::hand_out(std::unique_lock<base::biased_lock>& guard) noexcept {
  constexpr unsigned max_depth = 32;
  static thread_local unsigned depth = 0;
  if (depth == max_depth) return;
  ++depth;
  const auto give = [&guard](waiter_list& from, std::size_t place) {
    pool_waiter& next = from.pop();
    guard.unlock();
    next.take(next, place);
    guard.lock();
  };
  while (!waiting_.empty()) {
    const std::size_t place = claim(room_.of_node());
    if (place == none && living_ != 0) break;
    give(waiting_, place);
  }
  while (tasks_ == 0 && !idle_.empty()) give(idle_, none);
  --depth;
}

/// Of a node whose next process is being started: tells when it is there, or when there will be none.
struct pool_state::return_notice : continuation {
  return_notice(std::shared_ptr<pool_state> pool, std::size_t at) noexcept
      : continuation{[](continuation* self) {
          const std::unique_ptr<return_notice> me(static_cast<return_notice*>(self));
          me->of->come_back(me->place);
        }},
        of(std::move(pool)),
        place(at) {}

  const std::shared_ptr<pool_state> of;
  const std::size_t place;
};

/// False: there will be no other process of its number.
bool pool_state::awaits_return(std::size_t place) noexcept {
  engine* const at = find_engine(runtime_);
  if (at == nullptr || !at->numbers.any()) return false;
  const node_t number = node(place);
  try {
    const replacements::state now = at->numbers.of(number);
    if (!now.supervised || now.now == replacements::phase::given_up) return false;
    auto notice = std::make_unique<return_notice>(shared_from_this(), place);
    {
      const std::lock_guard guard(lock_);
      if (members_[place].lost || std::exchange(members_[place].restarting, true)) return true;
    }
    if (at->numbers.run_when_decided(number, notice.get()))
      static_cast<void>(notice.release());
    else
      come_back(place);  // it is there already; or the next call waits for it, or tells that there is none
    return true;
  } catch (...) {  // no memory
    return false;
  }
}

/// If there is no process, the next call that is sent there says so.
void pool_state::come_back(std::size_t place) noexcept {
  std::unique_lock guard(lock_);
  members_[place].restarting = false;
  hand_out(guard);
}

void pool_state::exclude(std::size_t place, const std::exception_ptr& why) noexcept {
  if (awaits_return(place)) return;
  loss_of_node last = describe(why);  // nothing is thrown while others spin for the lock
  std::unique_lock guard(lock_);
  if (members_[place].lost) return;
  members_[place].lost = true;
  --living_;
  std::swap(last_loss_, last);
  hand_out(guard);
}

bool pool_state::is_of_place(std::size_t place, node_t process) const noexcept {
  if (process == node(place)) return true;
  const engine* const at = find_engine(runtime_);
  return at != nullptr && at->numbers.number_of(process) == node(place);
}

bool pool_state::awaits_loss(std::size_t place, const std::exception_ptr& why, continuation* what) const noexcept {
  const node_t process = ending_process(why);
  engine* const at = find_engine(runtime_);
  if (process < 0 || at == nullptr || !is_of_place(place, process)) return false;
  return at->run_when_lost(process, what);
}

bool pool_state::is_loss(std::size_t place, const std::exception_ptr& why, bool sent) const noexcept {
  engine* const at = find_engine(runtime_);
  node_t process = -1;
  try {
    std::rethrow_exception(why);
  } catch (const node_failure& loss) {
    process = loss.node();
  } catch (...) {
    return false;
  }
  if (!is_of_place(place, process)) return false;
  if (!sent || at == nullptr) return true;
  const peer_hold who = at->peers.hold(process);
  return !who || who->state.load(std::memory_order_acquire) == peer_state::lost;
}

node_failure pool_state::none_left() const {
  loss_of_node last;
  {
    const std::lock_guard guard(lock_);
    last = last_loss_;
  }
  last.of.outcome = call_outcome::not_run;
  return node_failure("all nodes of this pool are lost (the last one: " + last.text + "); make a pool of other nodes",
                      std::move(last.of));
}

void pool_state::await_idle() noexcept {
  try {
    if (pending() == 0) return;
    waiting_thread me(engine_of_runtime(runtime_));
    {
      std::unique_lock guard(lock_);
      idle_.push_back(me);
      hand_out(guard);
    }
    if (me.wait()) return;
    const std::lock_guard guard(lock_);
    static_cast<void>(idle_.remove(me));
  } catch (...) {  // the runtime has ended: so have the tasks
  }
}

}  // namespace ham::offload::detail
