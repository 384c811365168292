// How replays of compiled graphs settle. The receiving lock is held unless said otherwise.
#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "core/unobserved.hpp"
#include "ham/offload/stage_error.hpp"
#include "runtime/engine.hpp"
#include "runtime/graph_messages.hpp"
#include "runtime/graph_replay.hpp"

namespace ham::inline v1::offload::detail {

std::exception_ptr late_replay(call_outcome outcome) {
  const bool begun = outcome != call_outcome::not_run;
  return std::make_exception_ptr(deadline_exceeded(
      begun ? "a replay of a graph did not end before its deadline (stages that have begun go on, no other ones begin)"
            : "a replay of a graph has not begun before its deadline (as many as it allows were in flight, or a "
              "queue to a node was full); allow more time",
      outcome));
}

std::exception_ptr missed_replay(engine& at, call_outcome outcome) {
  at.report_missed(at.self(), "a replay of a graph");
  return late_replay(outcome);
}

std::exception_ptr stopped_replay(call_outcome outcome) {
  const bool begun = outcome != call_outcome::not_run;
  return std::make_exception_ptr(
      operation_cancelled(begun ? "a replay of a graph was stopped (stages that have begun go on, no other ones begin)"
                                : "a replay of a graph has not begun (it was stopped before)",
                          outcome));
}

namespace {

/// Of an error that has to be made under a lock.
template <class Make>
std::exception_ptr made_or_no_memory(Make make) noexcept {
  try {
    return make();
  } catch (...) {
    return std::current_exception();
  }
}

std::exception_ptr late_while_running(engine& at) noexcept {
  return made_or_no_memory([&] { return missed_replay(at, call_outcome::may_have_run); });
}

}  // namespace

graph_replays::replay* graph_replays::find(std::uint32_t number) noexcept {
  replay& one = entry_of(number);
  return one.slot != nullptr && one.number == number ? &one : nullptr;
}

graph_replays::replay* graph_replays::find(const call_slot& slot) const noexcept {
  for (const std::unique_ptr<replay>& one : replays_) {
    if (one->slot == &slot) return one.get();
  }
  return nullptr;
}

/// False: there is no memory for it.
bool graph_replays::list_waiting(call_slot& slot) noexcept {
  try {
    waiting_.push_back(&slot);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// The thread that waits with it goes on. False: none does, or no more.
bool graph_replays::end_waiting(call_slot& slot) noexcept {
  if (std::erase(waiting_, &slot) == 0) return false;
  at_.calls.settle(slot, slot_state::value);
  return true;
}

void graph_replays::wake_waiting() noexcept {
  if (waiting_.empty()) [[likely]]
    return;
  for (call_slot* const waiting : waiting_) at_.calls.settle(*waiting, slot_state::value);
  waiting_.clear();
}

/// The slot is the caller's.
void graph_replays::forget(replay& one) noexcept {
  one.slot = nullptr;
  in_flight_.store(in_flight_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  wake_waiting();
}

void graph_replays::fail(replay& one, std::exception_ptr why) noexcept {
  call_slot& slot = *one.slot;
  forget(one);
  one.failed = one.number;
  one.failed_where = where_;
  if (one.owner == nullptr) {
    one.owner = shared_from_this();
    at_.calls.due().push(&one);
  }
  at_.calls.fail(slot, std::move(why));
}

void graph_replays::fail_all(const std::exception_ptr& why) noexcept {
  for (const std::unique_ptr<replay>& one : replays_) {
    if (one->slot != nullptr) fail(*one, why);
  }
}

/// A replay has failed: what it has not begun does not begin. Nobody holds a lock.
void graph_replays::abort(replay& one) noexcept {
  std::shared_ptr<graph_replays> self;
  std::shared_ptr<const installation> where;
  std::uint32_t number = 0;
  at_.waits.lock();
  self = std::move(one.owner);
  where = std::move(one.failed_where);
  number = one.failed;
  at_.waits.unlock();
  if (where == nullptr || at_.is_ending()) return;
  abort_parts(*where, number);
}

/// Does not wait.
void graph_replays::abort_parts(const installation& where, std::uint32_t number) noexcept {
  for (std::size_t part = 1; part < where.parts.size(); ++part) send_abort(at_, where.parts[part], number);
  where.own->abort(number);
}

/// The same as far as there is room for it. What there is none for, abort() tells again.
void graph_replays::announce_stop(std::uint32_t number) noexcept {
  const engine_scope scope(&at_);
  std::shared_ptr<const installation> where;
  replay& one = entry_of(number);
  at_.waits.lock();
  if (one.owner != nullptr && one.failed == number) where = one.failed_where;
  at_.waits.unlock();
  if (where == nullptr || at_.is_ending()) return;
  where->own->abort(number);
  bool all = true;
  for (std::size_t part = 1; part < where->parts.size(); ++part)
    all = try_send_abort(at_, where->parts[part], number) && all;
  if (!all) return;
  at_.waits.lock();
  if (one.failed == number) one.failed_where.reset();
  at_.waits.unlock();
}

bool graph_replays::is_late(const replay& one) noexcept {
  const std::int64_t deadline_ns = one.slot->deadline_ns;
  return deadline_ns != 0 && base::now_ns() >= deadline_ns;
}

/// Of a replay that no node was told of no node has a result: abandon() knows of errors only.
void graph_replays::settle(std::uint32_t number, std::span<const std::byte> value) noexcept {
  replay* const one = find(number);
  if (one == nullptr || !one->sent.load(std::memory_order_acquire)) return;
  call_slot& slot = *one->slot;
  if (is_late(*one)) {  // functions may have ended because they were told
    fail(*one, late_while_running(at_));
    return;
  }
  try {
    msg::reader from(value);
    decode_(slot, from);
  } catch (...) {
    fail(*one, std::current_exception());
    return;
  }
  forget(*one);
  at_.calls.settle(slot, slot_state::value);
}

void graph_replays::on_result(std::uint32_t replay_number, std::span<const std::byte> value) noexcept {
  locked([&] { settle(replay_number, value); });
}

bool graph_replays::is_over(std::uint32_t number) noexcept {
  const auto deadline_of = [&] {
    at_.waits.lock();
    const replay* const one = find(number);
    const std::int64_t deadline_ns = one == nullptr                ? 0
                                     : one->slot->deadline_ns == 0 ? base::never_ns
                                                                   : one->slot->deadline_ns;
    at_.waits.unlock();
    return deadline_ns;
  };
  const std::int64_t deadline_ns = deadline_of();
  const std::int64_t now = base::now_ns();
  if (deadline_ns == 0 || now < deadline_ns) return deadline_ns == 0;
  try {
    at_.expire_deadlines(now);
  } catch (const std::exception&) {
    return false;  // next time
  }
  return deadline_of() == 0;
}

/// Replays of an installation that is no more have failed.
void graph_replays::take_result(node_t node, std::uint32_t replay_number, std::span<const std::byte> value) noexcept {
  if (where_ == nullptr || plan_.result_part == 0 || where_->parts[plan_.result_part].node != node) return;
  settle(replay_number, value);
}

void graph_replays::on_failed(std::uint32_t replay_number, std::uint32_t stage, std::exception_ptr why) noexcept {
  const std::exception_ptr error = made_or_no_memory([&] {
    stage_error::origin where{stage, "?", at_.self()};
    for (std::size_t part = 0; part < plan_.parts.size(); ++part) {
      for (const part_stage& one : plan_.parts[part].stages) {
        if (one.number == stage) where = {stage, one.name, plan_.nodes[part]};
      }
    }
    return std::make_exception_ptr(stage_error(name_of_stage(stage, where.name) + " of a graph has failed on node " +
                                                   std::to_string(where.node) + ": " + describe(why),
                                               where, why));
  });
  locked([&] {
    replay* const one = find(replay_number);
    if (one != nullptr) fail(*one, is_late(*one) ? late_while_running(at_) : error);
  });
}

/// The node may have died, which this one notes by itself, perhaps later; or only those two have lost each other.
void graph_replays::on_lost(node_t node, const std::string& why) noexcept {
  try {
    probe_node(at_, node, [self = shared_from_this(), node, why] {
      self->locked([&] {
        if (self->where_ != nullptr) self->fail_all(self->loss_of(node, *self->where_, why));
      });
    });
  } catch (const std::bad_alloc&) {  // the replays wait until their deadlines, or until the node is lost here, too
  }
}

void graph_replays::lose(node_t node) noexcept {
  if (where_ == nullptr) return;
  const auto is_there = [node](const part_address& one) { return one.node == node; };
  if (std::none_of(where_->parts.begin(), where_->parts.end(), is_there)) return;
  stale_.store(true, std::memory_order_release);
  if (in_flight_.load(std::memory_order_relaxed) != 0) fail_all(loss_of(node, *where_, {}));
  wake_waiting();
}

bool graph_replays::expire(call_slot& slot) noexcept {
  replay* const one = find(slot);
  if (one != nullptr) fail(*one, late_while_running(at_));
  return one != nullptr;
}

bool graph_replays::stop(call_slot& slot) noexcept {
  if (!waiting_.empty() && end_waiting(slot)) return true;
  replay* const one = find(slot);
  if (one != nullptr) fail(*one, made_or_no_memory([] { return stopped_replay(call_outcome::may_have_run); }));
  return one != nullptr;
}

std::uint32_t graph_replays::number_of(const call_slot& slot) const noexcept {
  const replay* const one = find(slot);
  return one == nullptr ? 0 : one->number;
}

/// `why`: as another node sees it; empty: as this one has noted it. Any thread.
std::exception_ptr graph_replays::loss_of(node_t node, const installation& where,
                                          const std::string& why) const noexcept {
  return made_or_no_memory([&] {
    node_failure::details details;
    details.node = node;
    details.function = stages_on(node, where);
    details.outcome = call_outcome::may_have_run;
    const peer_hold who = at_.peers.hold(node);
    if (who && who->state.load(std::memory_order_acquire) == peer_state::lost) return who->about.failure(details);
    return std::make_exception_ptr(node_failure("node " + std::to_string(node) +
                                                    " of a graph cannot be reached by all of its nodes: " + why + "; " +
                                                    details.function + " has perhaps run",
                                                details));
  });
}

}  // namespace ham::offload::detail
