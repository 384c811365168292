// Replays of compiled graphs: how they wait for room and begin.
#include "runtime/graph_replays.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/thread_identity.hpp"
#include "core/call_stops.hpp"
#include "core/thread_state.hpp"
#include "core/unobserved.hpp"
#include "ham/msg/names.hpp"
#include "ham/offload/stop.hpp"
#include "runtime/engine.hpp"
#include "runtime/forks.hpp"
#include "runtime/graph_messages.hpp"
#include "runtime/graph_replay.hpp"
#include "runtime/pool_state.hpp"
#include "runtime/stop_with_caller.hpp"

namespace ham::inline v1::offload::detail {
namespace {

/// Numbers wrap around, and nodes tell earlier ones from later ones: none is used that is so far behind a replay that
/// has not settled.
constexpr std::uint32_t max_ahead = 1U << 30U;

}  // namespace

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
  const auto is_stopped = [&] { return how.token.stop_requested() || (outer != nullptr && outer->requested()); };
  for (;;) {
    if (is_stopped()) return settled_ticket(stopped_replay(call_outcome::not_run));
    const wait_limit limit{deadline_ns, &how.token, true};
    if (stale_.load(std::memory_order_acquire) && !renew_installation(limit)) {
      return settled_ticket(!limit.late() && is_stopped() ? stopped_replay(call_outcome::not_run)
                                                          : missed_replay(at_, call_outcome::not_run));
    }
    refuse_old_handles();
    call_slot& slot = *make_local_slot(at_);
    slot.deadline_ns = deadline_ns;
    at_.waits.lock();
    replay* const one = claim(slot);
    // The failure of the entry's last replay, which not all nodes were told of yet: the entry keeps the latest one
    // only.
    std::shared_ptr<const installation> untold;
    std::uint32_t failed = 0;
    if (one != nullptr && one->failed_where != nullptr) [[unlikely]] {
      untold = std::move(one->failed_where);
      failed = one->failed;
    }
    at_.waits.unlock();  // nothing has settled
    if (untold != nullptr) [[unlikely]] {
      const engine_scope scope(&at_);
      abort_parts(*untold, failed);
    }
    if (one != nullptr) return fill(*one, slot, how, sizes);
    at_.calls.cancel(slot);
    if (stale_.load(std::memory_order_acquire)) continue;
    if (how.policy == when_full::refuse) return {};
    if (!await_room(how.token, deadline_ns)) return settled_ticket(missed_replay(at_, call_outcome::not_run));
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
  if (stale_.load(std::memory_order_relaxed)) return nullptr;
  const std::uint32_t number = free_number();
  if (number == 0) return nullptr;
  replay& one = entry_of(number);
  one.slot = &slot;
  slot.position = std::uint64_t{number} << 8U;  // tells nested_call which replay it is; no operation, see report_slot()
  one.number = number;
  next_ = number + 1;
  one.filling = true;
  one.filler = base::thread_identity();
  one.sent.store(false, std::memory_order_relaxed);
  if (one.where != where_) one.where = where_;
  in_flight_.store(in_flight_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return &one;
}

/// Whether this thread is about to send all those that take the room: it waits for room in queues to nodes, and what it
/// executes meanwhile must not wait for them. The receiving lock is held.
bool graph_replays::all_begin_here() const noexcept {
  return std::ranges::all_of(replays_, [me = base::thread_identity()](const std::unique_ptr<replay>& one) {
    return one->filling ? one->filler == me : one->slot == nullptr;
  });
}

/// Also until it is stopped, of which the caller finds out by itself. False: the deadline has passed.
bool graph_replays::await_room(const std::stop_token& token, std::int64_t deadline_ns) {
  call_slot& mine = *make_local_slot(at_);
  bool waits = false;
  bool for_itself = false;
  locked([&] {
    const bool full = !stale_.load() && free_number() == 0;
    for_itself = full && all_begin_here();
    waits = full && !for_itself && list_waiting(mine);
  });
  if (!waits) {
    at_.calls.cancel(mine);
    if (!for_itself) return true;
    throw call_error(
        "a graph is replayed while this very thread sends as many replays of it as may be in flight (a call or a "
        "continuation came in between); replay it on another thread, or later, or allow more by "
        "graph_options::in_flight");
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
      why = late_replay(outcome);  // the program was told of the message
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

}  // namespace ham::offload::detail
