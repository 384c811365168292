// How a node executes its part of a graph: values are kept in frames, and stages begin when all is there.
#include "runtime/graph_part.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/observed_execution.hpp"
#include "ham/offload/supervise.hpp"
#include "runtime/device_calls.hpp"
#include "runtime/device_chain.hpp"
#include "runtime/engine.hpp"
#include "runtime/graph_frame.hpp"
#include "runtime/graph_messages.hpp"
#include "runtime/graph_parts.hpp"

namespace ham::inline v1::detail {

using offload::detail::graph_argument;
using offload::detail::no_stage;
using offload::detail::part_stage;
using offload::detail::part_target;
using offload::detail::stage_kind;

namespace {

[[noreturn, gnu::noinline, gnu::cold]] void throw_no_function(const engine& at, const part_stage& stage) {
  throw call_error("a graph calls function " + std::to_string(stage.key) + " of node " + std::to_string(at.self()) +
                       ", which has no such one",
                   call_error_reason::unknown_function);
}

/// As it is now: its library may have been unloaded since. Throws ham::call_error.
const msg::handler_entry& function_of(const engine& at, const part_stage& stage) {
  const msg::handler_entry* const function = msg::handler_table::local().find(stage.key);
  if (function == nullptr || function->kind != msg::handler_kind::call) [[unlikely]]
    throw_no_function(at, stage);
  return *function;
}

void copy_value(std::vector<std::byte>& to, std::span<const std::byte> from) { to.assign(from.begin(), from.end()); }

/// Of each stage of a part: whether it waits for one thing, in a replay and in each further iteration (if at all): the
/// end of one stage of the part, or the start of the replay. Other messages, which peers may repeat, count nothing down
/// there.
std::vector<bool> stages_behind_one(const offload::detail::part_plan& plan) {
  std::vector<std::uint32_t> named(plan.stages.size());
  for (const part_stage& one : plan.stages) {
    for (const std::uint32_t next : one.next) ++named[next];
  }
  std::vector<bool> found(plan.stages.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] = named[i] == 1 && plan.stages[i].needs == 1 && plan.stages[i].needs_again <= 1;
  for (const std::uint32_t one : plan.starting) found[one] = named[one]++ == 0 && plan.stages[one].needs == 1;
  for (const std::vector<std::uint32_t>& port : plan.ports) {
    for (const std::uint32_t one : port) found[one] = false;
  }
  return found;
}

}  // namespace

/// What a thread writes down of the stages that it executes, one behind the other.
struct graph_part::executions {
  std::optional<base::observed_execution> last{};
  stage_run* stage = nullptr;  // that it is of

  /// What follows begins when its turn has come.
  void end() noexcept { last.reset(); }
};

/// Stages that may begin, in the order in which they became so; and the result of the replay, once it is there.
struct graph_part::ready_list {
  stage_run* first = nullptr;
  stage_run* last = nullptr;
  outcome of_replay{};
  node_t sending_to = 0;  // the process of the part that a stage's end is told
};

// ---- stages that run

std::byte* graph_part::stage_run::begin(std::size_t size) {
  if (value->size() != size) value->resize(size);
  return value->data();
}

bool graph_part::stage_run::stop_requested() const noexcept { return in->stopped.load(std::memory_order_relaxed); }

void graph_part::stage_run::fail() noexcept {
  stage_run& last = chain_end != nullptr ? *chain_end : *this;
  last.end_stop();
  part->report(*in, number, std::current_exception());
  last.end(phase::failed);
}

void graph_part::stage_run::transferred() noexcept {
  call_slot& slot = *std::exchange(moved, nullptr);
  part->observer_->end_transfer();
  if (std::exception_ptr why = see_failure(slot); why != nullptr) {
    drop_failure(slot);
    part->report(*in, number, std::move(why));
    end(phase::failed);
  } else {
    release_slot(slot);
    end(phase::ended);
  }
}

// ---- frames

graph_part::graph_part(engine& at, node_t from, plan what, std::shared_ptr<replay_observer> observer, transfers moves)
    : at_(at),
      from_(from),
      plan_(std::move(what)),
      has_device_(device_calls::is_of(&at)),
      on_device_(std::make_unique<std::atomic<bool>[]>(plan_.stages.size())),
      observer_(std::move(observer)),
      transfers_(std::move(moves)),
      lock_(at.graphs.lock()) {
  check_part(plan_);
  follows_one_ = stages_behind_one(plan_);
  for (const part_stage& one : plan_.stages) {
    if (static_cast<stage_kind>(one.kind) == stage_kind::call) static_cast<void>(function_of(at_, one));
  }
  for (std::uint32_t i = 0; i < plan_.frames; ++i) frames_.push_back(make_frame());
}

graph_part::~graph_part() = default;

std::unique_ptr<graph_part::frame> graph_part::make_frame() {
  auto made = std::make_unique<frame>(*this);
  made->replay = plan_.before;
  made->values.resize(plan_.values());
  made->stages = std::vector<stage_run>(plan_.stages.size());
  for (std::uint32_t i = 0; i < made->stages.size(); ++i) {
    made->stages[i].follows_one = follows_one_[i];
    made->stages[i].part = this;
    made->stages[i].in = made.get();
    made->stages[i].number = i;
    made->stages[i].what = &plan_.stages[i];
    made->stages[i].value = &made->values[i];
    made->stages[i].only_next = only_behind(*made, i);
    const std::vector<part_target>& targets = plan_.stages[i].targets;
    made->stages[i].sends_on =
        std::any_of(targets.begin(), targets.end(), [](const part_target& to) { return !to.is_result; });
    const std::vector<graph_argument>& sources = plan_.stages[i].sources;
    if (sources.size() == 1 && sources.front().value != no_stage)
      made->stages[i].argument = &made->values[sources.front().value];
  }
  return made;
}

graph_part::stage_run* graph_part::only_behind(frame& of, std::uint32_t stage) const noexcept {
  const part_stage& one = plan_.stages[stage];
  const bool goes_on = static_cast<stage_kind>(one.kind) != stage_kind::decision && one.targets.empty() &&
                       one.next.size() == 1 && follows_one_[one.next.front()];
  return goes_on ? &of.stages[one.next.front()] : nullptr;
}

void graph_part::reset(frame& of, std::uint32_t replay, const replay_terms& terms) noexcept {
  of.replay = replay;
  of.started = false;
  of.stopped.store(false, std::memory_order_relaxed);
  of.terms = terms;
  for (stage_run& one : of.stages) one.pending.store(one.what->needs, std::memory_order_relaxed);
}

/// The frame of a replay, for a while; nullptr: it is over, or was given up, or `starts` and has started already.
graph_part::frame* graph_part::enter(std::uint32_t replay, bool starts, const replay_terms& terms) noexcept {
  frame* given_up = nullptr;
  frame* in = nullptr;
  {
    const std::lock_guard guard(lock_);
    in = enter_locked(replay, starts, terms, given_up);
  }
  give_up(given_up);
  return in;
}

/// Tells functions of a replay that a later one has replaced, if there is one.
void graph_part::give_up(frame* replaced) noexcept {
  if (replaced == nullptr) [[likely]]
    return;
  replaced->give_up();
  leave(*replaced);
}

/// `given_up`: of an earlier replay, whose stages still run. The caller gives it up when it holds the lock no more.
graph_part::frame* graph_part::enter_locked(std::uint32_t replay, bool starts, const replay_terms& terms,
                                            frame*& given_up) noexcept {
  std::unique_ptr<frame>& place = frames_[replay & (plan_.frames - 1)];
  const auto later = static_cast<std::int32_t>(replay - place->replay);  // numbers wrap around
  if (later < 0) return nullptr;
  if (later > 0) {
    if (place->users != 0) {
      try {
        std::unique_ptr<frame> fresh = make_frame();
        place->stopped.store(true, std::memory_order_relaxed);
        place->replaced = true;
        ++place->users;
        given_up = place.release();  // its last user frees it
        place = std::move(fresh);
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
    }
    reset(*place, replay, terms);
  }
  if (place->stopped.load(std::memory_order_relaxed)) return nullptr;
  if (starts && std::exchange(place->started, true)) [[unlikely]]
    return nullptr;
  ++place->users;
  return place.get();
}

/// What the caller frees when it does not hold the lock any more; or nullptr.
graph_part::frame* graph_part::leave_locked(frame& of) noexcept {
  return --of.users == 0 && of.replaced ? &of : nullptr;
}

void graph_part::free(frame* of) noexcept { delete of; }

void graph_part::leave(frame& of) noexcept {
  std::unique_lock guard(lock_);
  frame* const unused = leave_locked(of);
  guard.unlock();
  free(unused);
}

// ---- what arrives

void graph_part::start(std::uint32_t replay, std::span<const std::byte> inputs, const replay_terms& terms) noexcept {
  if (frame* const in = enter(replay, true, terms)) end(*in, start_in(*in, inputs));
}

void graph_part::deliver(std::uint32_t replay, std::uint32_t port, std::span<const std::byte> value,
                         const replay_terms& terms) noexcept {
  if (frame* const in = enter(replay, false, terms)) end(*in, deliver_in(*in, port, value));
}

graph_part::outcome graph_part::start_in(frame& in, std::span<const std::byte> inputs) noexcept {
  ready_list ready;
  try {
    msg::reader from(inputs);
    for (std::size_t i = 0; i < plan_.inputs; ++i) {
      const auto size = from.number<std::uint32_t>();
      copy_value(in.values[plan_.stages.size() + plan_.ports.size() + i], from.view(size));
    }
    from.expect_end();
    count_down(in, plan_.starting, ready);
  } catch (...) {
    report(in, 0, std::current_exception());
  }
  return run(in, ready);
}

graph_part::outcome graph_part::deliver_in(frame& in, std::uint32_t port, std::span<const std::byte> value) noexcept {
  if (port >= plan_.ports.size()) return {};
  ready_list ready;
  try {
    copy_value(in.values[plan_.stages.size() + port], value);
    count_down(in, plan_.ports[port], ready);
  } catch (...) {
    report(in, plan_.ports[port].empty() ? 0 : plan_.ports[port].front(), std::current_exception());
  }
  return run(in, ready);
}

void graph_part::abort(std::uint32_t replay) noexcept {
  frame* const in = enter(replay, false, {});
  if (in == nullptr) return;
  in->give_up();
  leave(*in);
}

bool graph_part::is_neighbour(node_t node) const noexcept {
  for (const std::uint32_t one : plan_.neighbours) {
    if (plan_.parts[one].node == node) return true;
  }
  return false;
}

// ---- stages

/// Each of these stages waits for one thing less.
void graph_part::count_down(frame& of, const std::vector<std::uint32_t>& stages, ready_list& ready) noexcept {
  for (const std::uint32_t one : stages) {
    stage_run& stage = of.stages[one];
    if (!stage.count_down()) continue;
    stage.next_ready = nullptr;
    (ready.first == nullptr ? ready.first : ready.last->next_ready) = &stage;
    ready.last = &stage;
  }
}

/// The result is told when the frame is free again: a later replay may begin at once.
void graph_part::end(frame& in, const outcome& of) noexcept {
  const std::uint32_t replay = in.replay;
  leave(in);
  if (of.finished) observer_->on_result(replay, of.result);
}

/// Stages that begin one behind the other are observed as one execution after the other, without a gap.
graph_part::outcome graph_part::run(frame& in, ready_list& ready) noexcept {
  executions observed;
  stage_run* next = nullptr;
  while (next != nullptr || ready.first != nullptr) {
    if (in.stopped.load(std::memory_order_relaxed)) break;
    stage_run& stage = next != nullptr ? *next : *std::exchange(ready.first, ready.first->next_ready);
    next = run_one(stage, ready, observed);
  }
  return ready.of_replay;
}

/// Gives what begins at once behind it, without a place among what is ready, which is nothing then.
graph_part::stage_run* graph_part::run_one(stage_run& first, ready_list& ready, executions& observed) noexcept {
  first.begin_on(base::thread_identity());
  stage_run& stage = begin(first, ready, observed);
  if (stage.has_ended()) [[likely]] {
    stage_run* const next = stage.only_next;
    if (next != nullptr && ready.first == nullptr && !stage.failed) [[likely]]
      return next->count_down() ? next : nullptr;
    if (stage.sends_on) observed.end();  // which may wait
  } else {
    observed.end();
    frame& in = *stage.in;
    {
      const std::lock_guard guard(lock_);
      ++in.users;  // of who ends it
    }
    stage.kept = shared_from_this();
    if (!stage.ended_meanwhile()) return nullptr;
    stage.kept.reset();
    leave(in);
  }
  complete(stage, ready);
  return nullptr;
}

/// Another thread has begun the stage, and has gone on without it.
void graph_part::resume(stage_run& stage) noexcept {
  const std::shared_ptr<graph_part> self = std::move(stage.kept);
  ready_list ready;
  complete(stage, ready);
  end(*stage.in, run(*stage.in, ready));
}

/// Gives the stage that ends for it: of a chain the last one.
graph_part::stage_run& graph_part::begin(stage_run& stage, ready_list& ready, executions& observed) noexcept {
  try {
    switch (static_cast<stage_kind>(stage.what->kind)) {
      case stage_kind::call:
        if (has_device_) [[unlikely]]
          return begin_on_device(stage, observed);
        begin_call(stage, observed);
        return stage;
      case stage_kind::transfer:
        observed.end();
        begin_transfer(stage);
        return stage;
      case stage_kind::entry:
        if (!stage.what->sources.empty()) copy_value(*stage.value, source(*stage.in, stage.number, 0));
        break;
      case stage_kind::finish: ready.of_replay = {true, gather(stage)}; break;
      case stage_kind::decision:
        stage.polls.poll([&] {
          if (was_aborted(*stage.in)) stage.in->give_up();
          this_call::heartbeat();  // each iteration is a call of its own
        });
        if (!plan_.stages[stage.what->entry].targets.empty()) observed.end();  // sending may wait
        break;
      case stage_kind::input: break;
    }
    stage.finish();
  } catch (...) {
    stage.fail();
    if (stage.chain_end != nullptr) return *stage.chain_end;
  }
  return stage;
}

void graph_part::begin_call(stage_run& stage, executions& observed) {
  const msg::handler_entry& function = function_of(at_, *stage.what);
  incoming_call call{&at_, &at_.own, gather(stage), stage.what->number, &function};
  call.sink = &stage;
  observe(stage, call, observed);
  if (stage.in->terms.stoppable) [[unlikely]] {
    stage.in->execute(stage, call);
    return;
  }
  try {
    function.handler(&call);
  } catch (...) {
    call_failed(call);
  }
}

/// On a node with a device, which may execute what follows, too. Which functions run there, the part learns.
graph_part::stage_run& graph_part::begin_on_device(stage_run& first, executions& observed) {
  std::atomic<bool>& known = on_device_[first.number];
  first.chain_end = nullptr;
  device_chain chain;
  stage_run* const last = known.load(std::memory_order_relaxed) ? make_chain(first, chain) : nullptr;
  if (last == nullptr) {
    device_chain::note_handed_over(nullptr);
    begin_call(first, observed);
    known.store(device_chain::was_handed_over(first), std::memory_order_relaxed);
    return first;
  }
  last->begin_on(base::thread_identity());
  incoming_call call{&at_, &at_.own, {}, first.what->number, chain.steps().front().handler};
  call.sink = &first;
  observe(first, call, observed);
  if (first.in->terms.stoppable) {
    first.in->execute(*last, call, &chain);
    return *last;
  }
  try {
    run_on_device(call, std::move(chain));
  } catch (...) {
    call_failed(call);
  }
  return *last;
}

void graph_part::observe(stage_run& stage, const incoming_call& call, executions& observed) noexcept {
  const base::observed_execution::call_of what{at_.self(), from_, call.function->key(), call.call,
                                               base::trace_kind::stage};
  if (observed.last) {
    std::atomic<bool>& quick = observed.stage->quick;
    const bool before = quick.load(std::memory_order_relaxed);
    if (const bool now = observed.last->next(what, before); now != before) quick.store(now, std::memory_order_relaxed);
  } else {
    observed.last.emplace(what, &at_.counters);
  }
  observed.stage = &stage;
}

/// Stages occupy the thread that executes them, which takes in nothing else.
bool graph_part::was_aborted(const frame& in) noexcept {
  if (observer_ != nullptr) {
    at_.receive_stops(false);  // of the call that replays it, perhaps
    return observer_->is_over(in.replay);
  }
  return receive_abort(at_, from_, plan_.parts[plan_.own].id, in.replay);
}

void graph_part::begin_transfer(stage_run& stage) {
  const engine_scope scope(&at_);
  if (!observer_->begin_transfer()) {  // its replay is over
    stage.in->give_up();
    stage.finish();
    return;
  }
  try {
    stage.moved = transfers_[stage.what->key]();
  } catch (...) {
    observer_->end_transfer();
    throw;
  }
  if (stage.moved->settled())
    stage.transferred();
  else
    attach(*stage.moved, &stage);
}

/// The value of a source of a stage.
std::span<const std::byte> graph_part::source(const frame& of, std::uint32_t stage, std::size_t index) const noexcept {
  const graph_argument& from = plan_.stages[stage].sources[index];
  return from.value == no_stage ? from.bytes : of.values[from.value];
}

/// The arguments of a stage, one behind the other; of a single one, where it lies.
std::span<const std::byte> graph_part::gather(stage_run& stage) {
  if (stage.argument != nullptr) [[likely]]
    return *stage.argument;
  const std::size_t count = stage.what->sources.size();
  if (count == 0) return {};
  if (count == 1) return source(*stage.in, stage.number, 0);
  stage.payload.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const std::byte> one = source(*stage.in, stage.number, i);
    stage.payload.insert(stage.payload.end(), one.begin(), one.end());
  }
  return stage.payload;
}

/// The iteration has ended: the loop has its value, or begins again with it.
void graph_part::decide(stage_run& stage, ready_list& ready) {
  frame& in = *stage.in;
  const std::span<const std::byte> last = source(in, stage.number, 1);
  if (last.size() != 1) throw protocol_error("a condition of a graph that is no truth value");
  const bool ends = last[0] != std::byte{0};
  const std::uint32_t to = ends ? stage.number : stage.what->entry;
  const graph_argument& value = stage.what->sources[0];
  if (value.value != to) copy_value(in.values[to], source(in, stage.number, 0));
  fan_out(in, to, ready);
}

void graph_part::complete(stage_run& stage, ready_list& ready) noexcept {
  frame& in = *stage.in;
  if (stage.failed || in.stopped.load(std::memory_order_relaxed)) return;
  try {
    if (static_cast<stage_kind>(stage.what->kind) == stage_kind::decision)
      decide(stage, ready);
    else
      fan_out(in, stage.number, ready);
  } catch (const node_failure& loss) {  // which may name the supervised number: another process may have it by now
    if (observer_ != nullptr)
      observer_->on_lost(ready.sending_to, loss.what());
    else
      send_loss(at_, plan_.parts[0], ready.sending_to, loss.what());
  } catch (...) {
    report(in, stage.number, std::current_exception());
  }
}

/// What waits for a stage: other nodes first, which then work while this one does.
void graph_part::fan_out(frame& of, std::uint32_t stage, ready_list& ready) {
  const part_stage& ended = plan_.stages[stage];
  for (const part_target& to : ended.targets) {
    const std::span<const std::byte> value =
        to.with_value ? std::span<const std::byte>(of.values[stage]) : std::span<const std::byte>();
    ready.sending_to = plan_.parts[to.part].node;
    if (to.is_result)
      send_result(at_, plan_.parts[to.part], of.replay, value);
    else
      send_to_part(at_, plan_.parts[to.part], of.replay, to.port, value, of.terms);
  }
  count_down(of, ended.next, ready);
}

void graph_part::report(const frame& of, std::uint32_t stage, std::exception_ptr why) noexcept {
  if (observer_ != nullptr)
    observer_->on_failed(of.replay, plan_.stages[stage].number, std::move(why));
  else
    send_failure(at_, plan_.parts[0], of.replay, plan_.stages[stage].number, plan_.stages[stage].name, why);
}

}  // namespace ham::detail
