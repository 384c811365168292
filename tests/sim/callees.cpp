// Callees note that they run, and give what the model of the job expects.
#include "sim/callees.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include "base/clock.hpp"
#include "ham/offload/retry.hpp"
#include "runtime/engine.hpp"
#include "sim/device_callees.hpp"
#include "sim/scheduler.hpp"
#include "sim/world.hpp"
#include "transport/common/ring_endpoint.hpp"

namespace ham::inline v1::sim {

oracle* the_oracle = nullptr;
int objects_alive = 0;

namespace {
void compute(std::int64_t ns) {
  if (ns != 0) base::sleep_ns(ns);
}
}  // namespace

std::int64_t result_of(call_number call, std::int64_t value) { return value * 31 + call; }

std::int64_t work(call_number call, std::int64_t value, std::int64_t takes_ns) {
  the_oracle->begin(call, offload::this_node());
  compute(takes_ns);
  the_oracle->end(call);
  return result_of(call, value);
}

void note(call_number call, std::int64_t takes_ns) {
  the_oracle->begin(call, offload::this_node());
  compute(takes_ns);
  the_oracle->end(call);
}

std::int64_t last_answer_of(call_number call) { return INT64_MIN + call; }

std::int64_t answer_and_die(call_number call) {
  the_oracle->begin(call, offload::this_node());
  world::die_behind(last_answer_of(call));
  return last_answer_of(call);
}

std::vector<std::int32_t> reversed(call_number call, std::vector<std::int32_t> values) {
  the_oracle->begin(call, offload::this_node());
  std::ranges::reverse(values);
  return values;
}

std::string words_of(call_number call) { return "call " + std::to_string(call) + " throws"; }

std::int64_t throwing(call_number call) {
  the_oracle->begin(call, offload::this_node());
  throw std::runtime_error(words_of(call));
}

std::int64_t along(call_number call, std::vector<node_t> route, std::vector<call_number> calls,
                   std::vector<char> load) {
  the_oracle->begin(call, offload::this_node());
  if (route.empty()) return static_cast<std::int64_t>(load.size());
  const node_t next = route.back();
  const call_number next_call = calls.back();
  route.pop_back();
  calls.pop_back();
  return 1 + offload::sync(next, fn<&along>, next_call, route, calls, load);
}

std::int64_t swallow(call_number call, std::vector<char> load) {
  the_oracle->begin(call, offload::this_node());
  return static_cast<std::int64_t>(load.size());
}

std::int64_t pump(call_number call, node_t to, std::vector<call_number> calls, std::uint32_t bytes) {
  the_oracle->begin(call, offload::this_node());
  const std::vector<char> load(bytes);
  std::vector<offload::future<std::int64_t>> sent;
  for (const call_number one : calls) sent.push_back(offload::async(to, fn<&swallow>, one, load));
  std::int64_t sum = 0;
  for (auto& one : sent) sum += one.get();
  return sum;
}

std::int64_t until_stopped(call_number call) {
  constexpr std::int64_t max_pause_ns = 1'000'000;
  the_oracle->begin(call, offload::this_node());
  const call_stop_token stop = this_call::stop_token();
  const std::int64_t begin = base::now_ns();
  for (std::int64_t pause = 1'000; !stop.stop_requested(); pause = std::min(2 * pause, max_pause_ns)) {
    if (!the_oracle->goes_on_polling(call, begin)) return 0;
    compute(pause);
  }
  if (!stop.stop_requested()) running->fail("a stop is taken back");
  return 1;
}

namespace {
[[noreturn]] void end_this_process() {
  the_oracle->numbers.doom(offload::this_node());
  running->kill(running->current().node);
  for (;;) base::sleep_ns(1'000'000);  // until no thread of the process holds what others share
}
}  // namespace

std::int64_t work_after_deaths(call_number call, std::int64_t value, std::uint32_t deaths) {
  the_oracle->begin(call, offload::this_node());
  if (the_oracle->runs_of(call) > deaths) return result_of(call, value);
  end_this_process();
}

std::int64_t until_stopped_behind_deaths(call_number call, std::uint32_t deaths) {
  if (the_oracle->runs_of(call) >= deaths) return until_stopped(call);
  the_oracle->begin(call, offload::this_node());
  end_this_process();
}

std::int64_t hang(call_number call) {
  constexpr std::int64_t max_ns = 60'000'000'000;
  the_oracle->begin(call, offload::this_node());
  the_oracle->numbers.doom(offload::this_node());
  const int process = running->current().node;
  const std::int64_t until = base::now_ns() + max_ns;
  while (running->living_threads(process - process % world::processes_of_job) != 0 && base::now_ns() < until)
    base::sleep_ns(100'000'000);
  return -1;
}

std::int64_t work_long(call_number call, std::int64_t value) {
  constexpr std::int64_t takes_ns = 45'000'000'000;
  constexpr std::int64_t pause_ns = 250'000'000;
  constexpr int pauses_between = 32;  // two signs
  the_oracle->begin(call, offload::this_node());
  const int process = running->current().node;
  const std::int64_t until = base::now_ns() + takes_ns;
  for (int i = 1; base::now_ns() < until; ++i) {
    if (running->living_threads(process - process % world::processes_of_job) == 0) return -1;
    compute(pause_ns);
    if (i % pauses_between == 0) this_call::heartbeat();
  }
  the_oracle->end(call);
  return result_of(call, value);
}

namespace {

/// Of the node that executes a call of a group.
call_number member_of(call_number first) {
  const auto at = this_call::group_position();
  if (!at) running->fail("a function of a group does not know its position");
  return first + static_cast<call_number>(*at);
}

}  // namespace

std::int64_t work_of_member(call_number first, std::int64_t value, std::int64_t takes_ns) {
  return work(member_of(first), value, takes_ns);
}

std::int64_t until_member_is_stopped(call_number first) { return until_stopped(member_of(first)); }

chain_link link_of(call_number call, std::int64_t value) {
  return {2 * std::uint64_t{call} + 3, static_cast<std::uint64_t>(result_of(call, value))};
}

chain_link chained(const chain_link& first, const chain_link& then) {
  return {first.first * then.first, first.second * then.first + then.second};
}

chain_link link_of_member(call_number first, std::int64_t value, std::int64_t takes_ns) {
  const call_number call = member_of(first);
  static_cast<void>(work(call, value, takes_ns));
  return link_of(call, value);
}

std::int64_t result_of_stage(call_number first, std::uint32_t index, std::int64_t one, std::int64_t other) {
  constexpr std::int64_t modulus = 1'000'003;
  return result_of(first + index, (3 * one + other) % modulus);
}

std::int64_t stage(call_number first, std::uint32_t index, std::int64_t one, std::int64_t other,
                   std::int64_t takes_ns) {
  static_cast<void>(work(first + index, 0, takes_ns));
  return result_of_stage(first, index, one, other);
}

std::int64_t iteration(call_number first, std::int64_t done, std::int64_t takes_ns) {
  static_cast<void>(work(first + static_cast<call_number>(done), 0, takes_ns));
  return done + 1;
}

bool has_iterated(std::int64_t done, std::int64_t wanted) { return done == wanted; }

namespace {

void expect_behind(call_number call, call_number earlier) {
  if (!the_oracle->has_ended(earlier))
    running->fail(the_oracle->describe(call) + " begins before " + the_oracle->describe(earlier) + " has ended");
}

}  // namespace

std::int64_t stage_behind(call_number first, std::uint32_t index, std::vector<std::uint32_t> behind, std::int64_t one,
                          std::int64_t other) {
  for (const std::uint32_t earlier : behind) expect_behind(first + index, first + earlier);
  return stage(first, index, one, other, 0);
}

std::int64_t polling_stage(call_number first, std::uint32_t index, std::vector<std::uint32_t> behind, std::int64_t one,
                           std::int64_t other) {
  for (const std::uint32_t earlier : behind) expect_behind(first + index, first + earlier);
  static_cast<void>(until_stopped(first + index));
  the_oracle->end(first + index);
  return result_of_stage(first, index, one, other);
}

turn first_turn(std::int64_t value) { return {0, value}; }

turn result_of_turn(call_number first, stage_of_turn which, turn one, turn other) {
  const auto index = static_cast<std::uint32_t>(one.done) * which.width + which.index;
  const bool is_last = which.index + 1 == which.width;
  return {one.done + (is_last ? 1 : 0), result_of_stage(first, index, one.value, other.value)};
}

turn stage_of_repeat(call_number first, stage_of_turn which, std::vector<std::uint32_t> behind, turn one, turn other,
                     std::int64_t given, std::int64_t takes_ns) {
  const call_number begin = first + static_cast<call_number>(one.done) * which.width;
  const call_number call = begin + which.index;
  if (other.done != one.done) running->fail(the_oracle->describe(call) + " is given values of two iterations");
  for (std::uint32_t i = 0; one.done != 0 && i < which.width; ++i) expect_behind(call, begin - which.width + i);
  for (const std::uint32_t earlier : behind) expect_behind(call, begin + earlier);
  static_cast<void>(work(call, 0, takes_ns));
  return result_of_turn(first, which, one, given == -1 ? other : turn{other.done, given});
}

bool is_last_turn(turn last, std::int64_t wanted) { return last.done == wanted; }

std::int64_t stage_behind_repeat(call_number first, std::uint32_t index, turn last, std::int64_t given,
                                 std::int64_t takes_ns) {
  for (std::uint32_t i = 0; i < index; ++i) expect_behind(first + index, first + i);
  return stage(first, index, last.value, given, takes_ns);
}

std::int64_t data_in_stage(call_number first, std::uint32_t index, std::vector<std::uint32_t> behind,
                           offload::buffer_ptr<std::int32_t> at, std::uint64_t count, std::int32_t adds) {
  for (const std::uint32_t earlier : behind) expect_behind(first + index, first + earlier);
  static_cast<void>(work(first + index, 0, 0));
  if (adds == 0) return sum_of(at.get(), count);
  for (std::uint64_t i = 0; i < count; ++i) at.get()[i] = sum_without_carry(at.get()[i], adds);
  return static_cast<std::int64_t>(count);
}

namespace {

enum class end_of_call : std::uint8_t { by_itself, stopped, late };

/// A call that a function makes, which is stopped with it, and has no more time.
template <class Call>
end_of_call await(call_number call, Call make) {
  try {
    static_cast<void>(make());
    the_oracle->settle(call);
    return end_of_call::by_itself;
  } catch (const operation_cancelled& stopped) {
    the_oracle->fail(call, stopped.outcome(), stopped.what());
    return end_of_call::stopped;
  } catch (const deadline_exceeded& late) {
    the_oracle->fail(call, late.outcome(), late.what());
    return end_of_call::late;
  }
}

}  // namespace

namespace {

/// INT64_MAX: there is none.
std::int64_t deadline_here() {
  const auto seen = this_call::deadline();
  if (seen == std::chrono::steady_clock::time_point::max()) return INT64_MAX;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(seen.time_since_epoch()).count();
}

/// What a function sees must be the deadline of its call: what was left of that travels, and does not become more.
void expect_deadline(call_number call, deadline_bounds given) {
  const std::int64_t seen = deadline_here();
  const bool has_one = given.left_ns != INT64_MAX;
  if (!has_one && seen != INT64_MAX) running->fail(the_oracle->describe(call) + " sees a deadline that it has not");
  if (has_one && seen == INT64_MAX) running->fail(the_oracle->describe(call) + " does not see its deadline");
  if (has_one && seen < given.least_ns) running->fail(the_oracle->describe(call) + " sees too early a deadline");
  if (has_one && seen - base::now_ns() > std::max(given.left_ns, std::int64_t{1}))
    running->fail(the_oracle->describe(call) + " sees more time than it was given");
}

/// By its own clock a function is over time, and then its token says so.
void await_deadline(call_number call) {
  constexpr int max_polls = 1'000;
  const std::int64_t until = deadline_here();
  if (until == INT64_MAX) return;
  const call_stop_token stop = this_call::stop_token();
  for (std::int64_t now = base::now_ns(); now < until; now = base::now_ns()) base::sleep_ns(until - now);
  for (int i = 0; !stop.stop_requested(); ++i) {
    if (i == max_polls) running->fail(the_oracle->describe(call) + " is over time, and is not stopped");
    base::sleep_ns(1'000);
  }
}

/// What a call has that is made now by a function with this deadline, and with time of its own (0: none).
deadline_bounds bounds_within(std::int64_t outer, std::int64_t own_ns) {
  const std::int64_t now = base::now_ns();
  deadline_bounds made;
  if (outer != INT64_MAX) made = {outer, outer - now};
  if (own_ns != 0) made = {std::min(made.least_ns, now + own_ns), std::min(made.left_ns, own_ns)};
  return made;
}

}  // namespace

std::int64_t see_deadline(call_number call, deadline_bounds given, std::vector<deadline_hop> route, bool awaits_it) {
  the_oracle->begin(call, offload::this_node());
  expect_deadline(call, given);
  if (route.empty()) {
    if (awaits_it) await_deadline(call);
    return 0;
  }
  const deadline_hop next = route.front();
  route.erase(route.begin());
  std::optional<this_call::shield> cleanup;
  if (next.shielded != 0) cleanup.emplace();
  const std::int64_t outer = deadline_here();
  if (next.shielded != 0 && outer != INT64_MAX) running->fail("a shield lets a deadline through");
  const deadline_bounds left = bounds_within(outer, next.own_ns);
  try {
    const offload::destination where = next.own_ns != 0
                                           ? offload::within(next.to, std::chrono::nanoseconds(next.own_ns))
                                           : offload::destination(next.to);
    const std::int64_t hops = offload::sync(where, fn<&see_deadline>, next.call, left, route, awaits_it);
    the_oracle->settle(next.call);
    if (deadline_here() != outer) running->fail(the_oracle->describe(call) + " sees another deadline than before");
    return hops < 0 ? hops : hops + 1;
  } catch (const deadline_exceeded& late) {
    the_oracle->fail(next.call, late.outcome(), late.what());
    if (left.left_ns == INT64_MAX) running->fail(the_oracle->describe(next.call) + " has no deadline: " + late.what());
  } catch (const operation_cancelled& stopped) {
    the_oracle->fail(next.call, stopped.outcome(), stopped.what());
    if (outer == INT64_MAX) running->fail(the_oracle->describe(next.call) + " is stopped without a reason");
  } catch (const node_failure& lost) {
    // Of a call that this one has made, it may be.
    the_oracle->fail(next.call, route.empty() ? lost.outcome() : call_outcome::may_have_run, lost.what());
    throw;
  }
  return -1;
}

std::int64_t see_deadline_of_member(call_number first, deadline_bounds given, bool awaits_it) {
  return see_deadline(member_of(first), given, {}, awaits_it);
}

std::int64_t see_deadline_of_stage(call_number first, std::uint32_t index, deadline_bounds given, std::int64_t stages) {
  return see_deadline(first + index, given, {}, false) + stages + 1;
}

std::int64_t until_stopped_there(call_number call, node_t to, call_number inner) {
  the_oracle->begin(call, offload::this_node());
  const call_stop_token stop = this_call::stop_token();
  const end_of_call first = await(inner, [&] { return offload::sync(to, fn<&until_stopped>, inner); });
  const bool stopped = stop.stop_requested();  // that its time is over it may be told later
  if (first == end_of_call::stopped && !stopped)
    running->fail(the_oracle->describe(inner) + " is stopped, and the function that has made it is not");
  const call_number second = inner + 1;
  if (stopped) the_oracle->forbid(second);
  const end_of_call next =
      await(second, [&] { return offload::sync(to, fn<&work>, second, std::int64_t{1}, std::int64_t{0}); });
  if (stopped && next == end_of_call::by_itself)
    running->fail(the_oracle->describe(second) + " is made by a function that was stopped");
  const this_call::shield cleanup;
  if (this_call::stop_token().stop_possible()) running->fail("a shield lets a stop through");
  const call_number third = inner + 2;
  the_oracle->settle(third, offload::sync(to, fn<&work>, third, std::int64_t{2}, std::int64_t{0}), result_of(third, 2));
  return stopped || next != end_of_call::by_itself ? 1 : 0;
}

std::int64_t until_retry_is_stopped(call_number call, node_t number, call_number inner, std::uint32_t deaths) {
  the_oracle->begin(call, offload::this_node());
  const call_stop_token stop = this_call::stop_token();
  try {
    const end_of_call first = await(inner, [&] {
      return offload::sync(offload::retry(number, max_retries), idempotent(fn<&until_stopped_behind_deaths>), inner,
                           deaths);
    });
    the_oracle->end_repeats(inner);
    if (first == end_of_call::stopped && !stop.stop_requested())
      running->fail(the_oracle->describe(inner) + " is stopped, and the function that has made it is not");
  } catch (const node_failure& lost) {
    the_oracle->fail(inner, lost.outcome(), lost.what());
    the_oracle->end_repeats(inner);
    throw;
  }
  const bool stopped = stop.stop_requested();
  const call_number second = inner + 1;
  if (stopped) the_oracle->forbid(second);
  const end_of_call next = await(second, [&] {
    return offload::sync(offload::retry(number, max_retries), idempotent(fn<&work>), second, std::int64_t{21},
                         std::int64_t{0});
  });
  if (stopped && next == end_of_call::by_itself)
    running->fail(the_oracle->describe(second) + " is made by a function that was stopped");
  return stopped || next != end_of_call::by_itself ? 1 : 0;
}

std::int64_t end_from_here(call_number call, node_t to, call_number inner, std::int64_t takes_ns) {
  the_oracle->begin(call, offload::this_node());
  auto made = offload::async(to, fn<&work>, inner, std::int64_t{22}, takes_ns);
  try {
    if (offload::kill_call(made) && world::lives(to))
      running->fail(the_oracle->describe(inner) + " is ended by a node that has not started its process");
  } catch (const call_error&) {
  }
  the_oracle->settle(inner, made.get(), result_of(inner, 22));
  return result_of(call, 22);
}

std::int64_t sum_of(const std::int32_t* values, std::size_t count) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<std::int64_t>(i + 1) * values[i];
  return sum;
}

std::int64_t sum_at(call_number call, offload::buffer_ptr<std::int32_t> at, std::uint64_t count) {
  the_oracle->begin(call, offload::this_node());
  return sum_of(at.get(), count);
}

std::int64_t work_item(map_item one) { return work(one.call, 0, one.takes_ns); }

std::int64_t counter::add(call_number call, std::int64_t what) {
  the_oracle->begin(call, offload::this_node());
  return value_ += what;
}

std::int64_t add_to(call_number call, offload::remote_ref<counter> object, call_number inner, std::int64_t what) {
  the_oracle->begin(call, offload::this_node());
  return object.call<&counter::add>(inner, what);
}

namespace {

/// Whether the peer has sent by rings what nobody has read. The receiving lock is held.
bool has_unread(transport::endpoint* from) {
  auto* const rings = dynamic_cast<transport::ring_endpoint*>(from);
  if (rings == nullptr) return false;
  const transport::ring_endpoint::reading_alone alone(*rings);
  transport::ring_reader& reader = rings->reader();
  if (reader.empty()) return false;
  if (!reader.next_is(transport::pad_kind, 0, 0)) return true;
  transport::ring_reader behind_pad = reader;
  transport::frame next;
  if (behind_pad.poll(next) == transport::ring_status::frame) return true;
  reader = behind_pad;  // a pad alone: the message behind it was not sent
  return false;
}

}  // namespace

std::string left_over() {
  detail::engine& here = detail::current();
  std::size_t pending = 0;
  std::size_t kept = 0;
  std::size_t unread = 0;
  here.locked([&] {
    here.calls.for_each_slot([&](const detail::call_slot& slot) {
      const detail::slot_state now = slot.state.load();
      if (now == detail::slot_state::pending)
        ++pending;
      else if (now != detail::slot_state::free)
        ++kept;
    });
    here.peers.for_each_held([&](const detail::peer& who) { unread += has_unread(who.to) ? 1 : 0; });
  });
  std::string text;
  if (pending != 0) text += std::to_string(pending) + " pending calls, ";
  if (kept != 0) text += std::to_string(kept) + " slots of calls that have settled, ";
  if (unread != 0) text += "messages that are not read, of " + std::to_string(unread) + " nodes, ";
  if (here.calls_in.has_deferred()) text += "calls that have not begun, ";
  if (const auto parts = here.graphs.installed(); parts != 0) text += std::to_string(parts) + " parts of graphs, ";
  if (const auto full = here.peers.filled_outboxes().load(); full != 0)
    text += std::to_string(full) + " outboxes that are not empty, ";
  if (here.flow.take(here.flow.max_bytes()))
    here.flow.drop(here.flow.max_bytes());
  else
    text += "room of calls that is not given back, ";
  return text + left_over_of_device();
}

}  // namespace ham::sim
