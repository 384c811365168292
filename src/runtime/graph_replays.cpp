// Replays of compiled graphs: how they begin, wait for room, and settle.
#include "runtime/graph_replays.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "core/call_stops.hpp"
#include "core/thread_state.hpp"
#include "core/unobserved.hpp"
#include "ham/msg/names.hpp"
#include "ham/offload/stage_error.hpp"
#include "ham/offload/stop.hpp"
#include "runtime/engine.hpp"
#include "runtime/forks.hpp"
#include "runtime/graph_messages.hpp"
#include "runtime/pool_state.hpp"
#include "runtime/stop_with_caller.hpp"

namespace ham::inline v1::offload::detail {
namespace {

/// Numbers wrap around, and nodes tell earlier ones from later ones: none is used that is so far behind a replay that
/// has not settled.
constexpr std::uint32_t max_ahead = 1U << 30U;

std::exception_ptr late_replay(call_outcome outcome) {
  const bool begun = outcome != call_outcome::not_run;
  return std::make_exception_ptr(deadline_exceeded(
      begun ? "a replay of a graph did not end before its deadline (stages that have begun go on, no other ones begin)"
            : "a replay of a graph has not begun before its deadline (as many as it allows were in flight, or a "
              "queue to a node was full); allow more time",
      outcome));
}

std::exception_ptr stopped_replay(call_outcome outcome) {
  const bool begun = outcome != call_outcome::not_run;
  return std::make_exception_ptr(
      operation_cancelled(begun ? "a replay of a graph was stopped (stages that have begun go on, no other ones begin)"
                                : "a replay of a graph has not begun (it was stopped before)",
                          outcome));
}

/// Of an error that has to be made under a lock.
template <class Make>
std::exception_ptr made_or_no_memory(Make make) noexcept {
  try {
    return make();
  } catch (...) {
    return std::current_exception();
  }
}

std::exception_ptr late_while_running() noexcept {
  return made_or_no_memory([] { return late_replay(call_outcome::may_have_run); });
}

}  // namespace

/// An entry of the table. As a continuation it tells the nodes that a replay has failed.
struct graph_replays::replay : continuation {
  replay() noexcept
      : continuation{[](continuation* self) {
          auto* const me = static_cast<replay*>(self);
          std::shared_ptr<graph_replays> of;
          of = me->owner;
          of->abort(*me);
        }} {}

  call_slot* slot = nullptr;  // of its future; nullptr: it has settled
  std::uint32_t number = 0;
  std::int64_t deadline_ns = 0;   // 0: none
  replay_terms terms;             // for nodes
  bool filling = false;           // a thread gives it its inputs
  std::stop_token token;          // that thread's: ends its wait for room in queues
  std::atomic<bool> sent{false};  // by that thread: nodes may have begun it
  std::vector<std::byte> inputs;  // as a part is given them: each behind its size
  std::vector<std::byte> some;    // of them, for one part
  std::shared_ptr<const installation> where;
  // Of one that has failed, until its nodes are told.
  std::shared_ptr<graph_replays> owner;
  std::uint32_t failed = 0;
  std::shared_ptr<const installation> failed_where;
};

graph_replays::graph_replays(engine& at, graph_plan plan, result_decoder decode, std::size_t in_flight)
    : at_(at),
      runtime_(at.serial),
      plan_(std::move(plan)),
      decode_(decode),
      limit_(in_flight),
      frames_(plan_.parts.front().frames) {
  for (std::uint32_t i = 0; i < frames_; ++i) replays_.push_back(std::make_unique<replay>());
  for (std::size_t part = 0; part < plan_.parts.size(); ++part)
    takes_all_inputs_.push_back(plan_.takes_all_inputs(part) ? 1 : 0);
}

graph_replays::~graph_replays() = default;

// ---- beginning

void graph_replays::check_inputs(std::span<const std::type_info* const> types) const {
  if (types.size() != plan_.types.size())
    throw call_error("a replay was given " + std::to_string(types.size()) + " inputs (the graph has " +
                     std::to_string(plan_.types.size()) + "); give it one for each input<>()");
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == plan_.types[i] || *types[i] == *plan_.types[i]) [[likely]]
      continue;
    throw call_error("input " + std::to_string(i) + " of a replay is a " + msg::canonical_name(types[i]->name()) +
                     " (the graph's is a " + msg::canonical_name(plan_.types[i]->name()) +
                     "); convert it, or name the inputs in compile(), so that the compiler does");
  }
}

replay_ticket graph_replays::enter(const replay_options& how, std::span<const std::size_t> sizes) {
  static_cast<void>(engine_of_runtime(runtime_));
  call_stop* const outer = this_thread.innermost_stop();
  std::int64_t deadline_ns = ham::detail::deadline_within_caller(how.deadline_ns);
  if (deadline_ns == base::never_ns) deadline_ns = 0;
  for (;;) {
    if (how.token.stop_requested() || (outer != nullptr && outer->requested()))
      return settled_ticket(stopped_replay(call_outcome::not_run));
    const bool has_to = stale_.load(std::memory_order_acquire) || installing_.load() != std::thread::id();
    if (has_to && !renew_installation(deadline_ns)) return settled_ticket(late_replay(call_outcome::not_run));
    refuse_old_handles();
    call_slot& slot = *make_local_slot(at_);
    slot.deadline_ns = deadline_ns;
    at_.waits.lock();
    replay* const one = claim(slot);
    at_.waits.unlock();  // nothing has settled
    if (one != nullptr) return fill(*one, slot, how, sizes);
    at_.calls.cancel(slot);
    if (stale_.load(std::memory_order_acquire)) continue;
    if (how.policy == when_full::refuse) return {};
    if (!await_room(how.token, deadline_ns)) return settled_ticket(late_replay(call_outcome::not_run));
  }
}

/// The next number whose entry is free; 0: there is no room. The receiving lock is held.
std::uint32_t graph_replays::free_number() const noexcept {
  if (in_flight_.load(std::memory_order_relaxed) >= limit_) return 0;
  for (std::uint32_t ahead = 0; ahead <= frames_; ++ahead) {
    const std::uint32_t number = next_ + ahead;
    if (number == 0) continue;
    const replay& one = entry_of(number);
    if (one.slot == nullptr && !one.filling) return number;
    if (number - one.number > max_ahead) return 0;
  }
  return 0;
}

/// The entry of the next replay; nullptr: none is free. The receiving lock is held.
graph_replays::replay* graph_replays::claim(call_slot& slot) noexcept {
  if (stale_.load(std::memory_order_relaxed) || installing_.load() != std::thread::id()) return nullptr;
  const std::uint32_t number = free_number();
  if (number == 0) return nullptr;
  replay& one = entry_of(number);
  one.slot = &slot;
  slot.position = std::uint64_t{number} << 8U;  // tells nested_call which replay it is; no operation, see report_slot()
  one.number = number;
  next_ = number + 1;
  one.filling = true;
  one.sent.store(false, std::memory_order_relaxed);
  if (one.where != where_) one.where = where_;
  in_flight_.store(in_flight_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return &one;
}

/// Also until it is stopped, of which the caller finds out by itself. False: the deadline has passed.
bool graph_replays::await_room(const std::stop_token& token, std::int64_t deadline_ns) {
  call_slot& mine = *make_local_slot(at_);
  bool waits = false;
  locked([&] { waits = !stale_.load() && free_number() == 0 && list_waiting(mine); });
  if (!waits) {
    at_.calls.cancel(mine);
    return true;
  }
  bool room = false;
  try {
    stop_link::attach(mine, token, when_stopped::at_once);
    stop_with_caller(at_, mine);
    room = wait_slot(mine, deadline_ns == 0 ? INT64_MAX : deadline_ns);
  } catch (...) {
    locked([&] { static_cast<void>(end_waiting(mine)); });
    static_cast<void>(release_awaited(mine));
    throw;
  }
  if (!room) locked([&] { static_cast<void>(end_waiting(mine)); });
  if (!release_awaited(mine))
    throw config_error("a graph cannot be replayed (its runtime has ended); end what uses it before its runtime");
  return room;
}

replay_ticket graph_replays::settled_ticket(std::exception_ptr why) {
  call_slot& slot = *make_local_slot(at_);
  fail_local(slot, std::move(why));
  return {&slot, nullptr, 0};
}

/// Memory for the inputs; what stops it. `slot`: the replay's, which may have failed already. Nobody else gives the
/// slot back before its future is made.
replay_ticket graph_replays::fill(replay& one, call_slot& slot, const replay_options& how,
                                  std::span<const std::size_t> sizes) {
  const std::uint32_t number = one.number;
  try {
    std::size_t total = 0;
    for (const std::size_t size : sizes) {
      if (size > UINT32_MAX)
        throw call_error("an input of a replay takes " + std::to_string(size) +
                             " bytes (less than 4 GiB are allowed); move bulk data with put and get",
                         call_error_reason::too_long);
      total += replay_ticket::head_bytes + size;
    }
    if (one.inputs.size() != total) one.inputs.resize(total);
    msg::writer to(one.inputs.data(), total);
    for (const std::size_t size : sizes) {
      to.number(static_cast<std::uint32_t>(size));
      static_cast<void>(to.take(size));
    }
    one.deadline_ns = slot.deadline_ns;
    one.terms = {how.deadline_ns != 0 || how.token.stop_possible() || this_thread.innermost_stop() != nullptr,
                 slot.deadline_ns != 0 ? slot.deadline_ns : base::never_ns};
    one.token = how.token;
    if (how.token.stop_possible()) stop_link::attach(slot, how.token, when_stopped::at_once);
    stop_with_caller(at_, slot);
  } catch (...) {
    abandon({&slot, nullptr, number});
    throw;
  }
  return {&slot, one.inputs.data(), number};
}

void graph_replays::send(const replay_ticket& entered) {
  const engine_scope scope(&at_);
  replay& one = entry_of(entered.number);
  const std::int64_t deadline_ns = one.deadline_ns;
  if (deadline_ns != 0) at_.calls.add_deadline(entered.slot->id, deadline_ns);
  bool begun = false;
  one.sent.store(true, std::memory_order_release);
  try {
    send_parts(one, entered.number, deadline_ns, begun);
  } catch (...) {
    std::exception_ptr why = std::current_exception();
    const call_outcome outcome = begun ? call_outcome::may_have_run : call_outcome::not_run;
    try {
      throw;
    } catch (const node_failure& loss) {
      why = loss_of(process_in(*one.where, loss.node()), *one.where, loss.what());
    } catch (const deadline_exceeded&) {
      why = late_replay(outcome);
    } catch (const operation_cancelled&) {
      why = stopped_replay(outcome);
    } catch (...) {  // as it is
    }
    locked([&] {
      if (replay* const failed = find(entered.number)) fail(*failed, why);
    });
  }
  end_filling(one);
}

/// Other nodes first. What this one has to do itself, it does while they work. `begun`: whether a node may have begun,
/// also if this throws.
void graph_replays::send_parts(replay& one, std::uint32_t number, std::int64_t deadline_ns, bool& begun) {
  static const std::stop_source
      nobody;  // of a token that is asked: with it the stop of the call that this thread executes
  const installation& where = *one.where;  // stays until end_filling()
  const bool own = one.token.stop_possible() || this_thread.innermost_stop() == nullptr;
  const std::stop_token token = own ? one.token : nobody.get_token();
  for (std::size_t part = 1; part < plan_.parts.size(); ++part) {
    if (plan_.parts[part].starting.empty()) continue;
    const token_of_next_call ends_wait(&token);
    send_start(at_, where.parts[part], number, inputs_for(one, part), one.terms,
               deadline_ns == 0 && token.stop_possible() ? base::never_ns : deadline_ns);
    begun = true;
    if (token.stop_requested()) std::rethrow_exception(stopped_replay(call_outcome::may_have_run));
  }
  if (!plan_.parts.front().starting.empty()) where.own->start(number, inputs_for(one, 0), one.terms);
}

/// What the start of a part brings: mostly all of them.
std::span<const std::byte> graph_replays::inputs_for(replay& one, std::size_t part) const {
  if (takes_all_inputs_[part]) [[likely]]
    return one.inputs;
  const std::vector<std::uint32_t>& wanted = plan_.inputs[part];
  one.some.clear();
  for (const std::uint32_t input : wanted) {
    msg::reader all(one.inputs);
    std::span<const std::byte> found;
    for (std::size_t i = 0; i <= input; ++i) {
      const auto size = all.number<std::uint32_t>();
      const std::span<const std::byte> value = all.view(size);
      found = {value.data() - replay_ticket::head_bytes, replay_ticket::head_bytes + size};
    }
    one.some.insert(one.some.end(), found.begin(), found.end());
  }
  return one.some;
}

void graph_replays::abandon(const replay_ticket& entered) noexcept {
  replay& one = entry_of(entered.number);
  bool is_mine = false;
  locked([&] {
    is_mine = one.slot == entered.slot;
    if (is_mine) forget(one);
  });
  if (is_mine) {
    at_.calls.cancel(*entered.slot);
  } else {
    static_cast<void>(see_failure(*entered.slot));
    drop_failure(*entered.slot);
  }
  end_filling(one);
}

void graph_replays::end_filling(replay& one) noexcept {
  one.token = {};
  locked([&] {
    one.filling = false;
    if (where_ == nullptr) one.where.reset();  // the graph was closed meanwhile
    wake_waiting();
  });
}

/// Of replays that are over: entries keep them for the next one.
void graph_replays::forget_installations() noexcept {
  for (const std::unique_ptr<replay>& one : replays_) {
    if (!one->filling) one->where.reset();
  }
}

// ---- settling; the receiving lock is held unless said otherwise

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
  for (std::size_t part = 1; part < where->parts.size(); ++part) send_abort(at_, where->parts[part], number);
  where->own->abort(number);
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
    fail(*one, late_while_running());
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
    if (one != nullptr) fail(*one, is_late(*one) ? late_while_running() : error);
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
  if (one != nullptr) fail(*one, late_while_running());
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
