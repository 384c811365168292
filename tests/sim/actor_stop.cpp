// Steps that stop transfers, and calls that are repeated.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "ham/offload/retry.hpp"
#include "sim/actor.hpp"
#include "sim/stopper.hpp"
#include "sim/supervision.hpp"

namespace ham::inline v1::sim {
// ---- transfers

/// Of memory of its own, which nobody can know behind a transfer that was stopped while it moved bytes.
void actor::stop_transfer(random_source& random) {
  const node_t node = any_node(random);
  const node_t node_of_to = any_node(random);
  const bool is_long = !has_devices(plan_) && over_ != medium::islands && random.once_in(8);  // more than one part
  const std::size_t count = is_long ? 270'000 + random.below(20'000) : 1 + random.below(1'500);
  stopped_memory of;
  of.model = any_values(count, random);
  of.model_of_to = any_values(count, random);
  const bool stops_allocation = random.once_in(4);
  stopper stops(stops_allocation && random.once_in(3), stops_allocation,
                static_cast<std::int64_t>(random.below(50'000)));
  const bool there = use(node, [&] {
    try {
      of.at = stops_allocation ? offload::allocate<std::int32_t>(offload::stoppable(node, stops.token()), count)
                               : offload::allocate<std::int32_t>(node, count);
    } catch (const operation_cancelled& stopped) {
      if (!stops_allocation) running->fail(std::string("nobody has stopped an allocation: ") + stopped.what());
      if (stopped.outcome() != call_outcome::not_run)
        running->fail("memory is owned by nobody: an allocation was stopped");
      of.at = offload::allocate<std::int32_t>(node, count);
    }
    offload::put_sync(of.model.data(), of.at, count);
  });
  const bool has_both = there && use(node_of_to, [&] {
                          of.to = offload::allocate<std::int32_t>(node_of_to, count);
                          offload::put_sync(of.model_of_to.data(), of.to, count);
                        });
  for (std::uint64_t rounds = 1 + random.below(3); has_both && rounds != 0; --rounds) {
    if (!stop_one(of, random)) break;
  }
  if (of.at) use(of.at.node(), [&] { offload::free(of.at); });
  if (of.to) use(of.to.node(), [&] { offload::free(of.to); });
}

/// False: what the memory holds, or the node, is not known any more.
bool actor::stop_one(stopped_memory& of, random_source& random) {
  enum class verb : std::uint8_t { put, get, copy };
  const auto kind = std::array{verb::put, verb::get, verb::copy, verb::copy}[random.below(4)];
  const std::size_t count = of.model.size();
  const bool before = random.once_in(6);
  const bool has_deadline = random.once_in(3);
  const bool is_sync = random.once_in(3);
  const bool in_rows = random.once_in(3);
  const offload::block rows{1, count, count, count};
  const std::chrono::nanoseconds limit(random.below(100'000));
  const node_t node = of.at.node();
  const node_t writes = kind == verb::copy ? of.to.node() : node;
  const std::vector<std::int32_t> values = any_values(count, random);
  std::vector<std::int32_t> local = kind == verb::put ? values : std::vector<std::int32_t>(count, -1);
  call_outcome outcome = call_outcome::ran;
  bool lost = false;
  stopper stops(before, random.once_in(2), static_cast<std::int64_t>(random.below(60'000)));
  const offload::stoppable_destination where =
      has_deadline ? offload::within(node, limit, stops.token()) : offload::stoppable(node, stops.token());
  const auto begin = [&](auto what) {
    switch (kind) {
      case verb::put: return offload::put(where, local.data(), of.at, what);
      case verb::get: return offload::get(where, of.at, local.data(), what);
      default: return offload::copy(where, of.at, of.to, what);
    }
  };
  const auto wait_for = [&](auto what) {
    switch (kind) {
      case verb::put: offload::put_sync(where, local.data(), of.at, what); break;
      case verb::get: offload::get_sync(where, of.at, local.data(), what); break;
      default: offload::copy_sync(where, of.at, of.to, what); break;
    }
  };
  try {
    if (is_sync && in_rows) {
      wait_for(rows);
    } else if (is_sync) {
      wait_for(count);
    } else {
      offload::future<void> moved = in_rows ? begin(rows) : begin(count);
      stops.stop();
      moved.get();
    }
    if (before) running->fail("a transfer has moved bytes that was stopped before it began");
  } catch (const operation_cancelled& stopped) {
    outcome = stopped.outcome();
    if (before && outcome != call_outcome::not_run)
      running->fail("a transfer that was stopped before it began may have moved bytes");
  } catch (const deadline_exceeded& late) {
    outcome = late.outcome();
    if (!has_deadline) running->fail(std::string("a transfer has no deadline: ") + late.what());
    if (before) running->fail(std::string("a transfer begins that was stopped before: ") + late.what());
  } catch (const node_failure& failed) {
    lost = true;
    if (kind == verb::copy && faults_.any)
      outcome = call_outcome::may_have_run;  // either may be lost, to the host or to the other
    else
      expect_lost(node, failed.what());
  } catch (const call_error& failed) {
    lost = true;
    if (kind != verb::copy || !faults_.any) expect_lost(node, failed.what());
  } catch (const buffer_error& old) {  // of a process that was replaced
    lost = true;
    if (!faults_.any_added) running->fail(std::string("memory is not known: ") + old.what());
  }
  // Nothing touches the local memory any more.
  const std::vector<std::int32_t> got = local;
  constexpr std::int32_t garbage = -77;
  std::ranges::fill(local, garbage);
  stops.join();
  if (lost) return false;
  const bool is_over = outcome == call_outcome::ran;
  if (kind == verb::get) {
    for (std::size_t i = 0; i < count; ++i) {
      if (got[i] != of.model[i] && (is_over || got[i] != -1))
        running->fail("a get that may be stopped gives other bytes");
    }
  }
  std::vector<std::int32_t>& model = kind == verb::copy ? of.model_of_to : of.model;
  const std::vector<std::int32_t>& written = kind == verb::copy ? of.model : values;
  const buffer_ptr<std::int32_t> at = kind == verb::copy ? of.to : of.at;
  // Behind a later call what this node has sent is there.
  const node_t number = offload::number_of(writes);
  const call_number call = the_oracle->issue(number);
  const bool answered = attempt(call, false, [&] {
    the_oracle->settle(call, offload::sync(number, fn<&work>, call, std::int64_t{23}, std::int64_t{0}),
                       result_of(call, 23));
  });
  std::vector<std::int32_t> now(count);
  if (!answered || !use(writes, [&] { offload::get_sync(at, now.data(), count); })) return false;
  if (std::ranges::any_of(local, [](std::int32_t value) { return value != garbage; }))
    running->fail("a transfer that has settled touches local memory");
  const bool changes = kind != verb::get && outcome != call_outcome::not_run;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_right = (now[i] == model[i] && !(changes && is_over)) || (changes && now[i] == written[i]);
    if (!is_right)
      running->fail("memory of node " + std::to_string(writes) +
                    " holds other bytes than a transfer that may be stopped has moved");
  }
  if (kind == verb::copy && changes && !is_over) return false;  // the nodes may still be moving it
  if (changes) model = std::move(now);
  return true;
}

// ---- repeated calls

void actor::stop_retry(random_source& random) {
  if (random.once_in(2)) {
    stop_retry_of_caller(random);
    return;
  }
  const std::optional<node_t> supervised = any_supervised(random);
  const node_t number = supervised && !random.once_in(4) ? *supervised : any_node(random);
  const bool may_die = the_oracle->numbers.supervises(number) && may_end_processes(world_) && random.once_in(2);
  const auto deaths = static_cast<std::uint32_t>(may_die ? random.below(max_retries + 1) : 0);
  if (deaths != 0) note_faults();
  const bool by_token = random.once_in(2);
  const bool before = by_token && random.once_in(8);
  const auto when = random.once_in(2) ? offload::when_stopped::after_answer : offload::when_stopped::at_once;
  stopper stops(before, by_token, static_cast<std::int64_t>(random.below(400'000)));
  const call_number call = the_oracle->issue(number);
  the_oracle->allow_late(call);
  the_oracle->allow_repeats(call, max_retries + 1);
  the_oracle->ask_to_stop(call);
  if (before) the_oracle->forbid(call);
  try {
    const auto function = idempotent(fn<&until_stopped_behind_deaths>);
    auto result = by_token
                      ? offload::async(offload::retry(offload::stoppable(number, stops.token(), when), max_retries),
                                       function, call, deaths)
                      : offload::async(offload::retry(offload::stoppable(number), max_retries), function, call, deaths);
    if (!by_token) {
      if (random.once_in(2)) base::sleep_ns(static_cast<std::int64_t>(random.below(400'000)));
      result.request_stop(when);
      the_oracle->end_repeats(call);
    }
    static_cast<void>(result.get());
    the_oracle->settle(call);
  } catch (const operation_cancelled& stopped) {
    the_oracle->fail(call, stopped.outcome(), stopped.what());
  } catch (const node_failure& lost) {
    if (!the_oracle->numbers.knows(number) || !the_oracle->numbers.may_fail(number, 0))
      expect_lost(number, lost.what());
    the_oracle->fail(call, lost.outcome(), lost.what());
  } catch (const call_error& refused) {
    expect_lost(number, refused.what());
    the_oracle->fail(call, call_outcome::not_run, refused.what());
  }
  the_oracle->end_repeats(call);
}

/// A function that is stopped while it waits for such a call.
void actor::stop_retry_of_caller(random_source& random) {
  const node_t node = any_node(random);
  const std::optional<node_t> supervised = any_supervised(random);
  const node_t number = supervised && !random.once_in(4) ? *supervised : any_node(random);
  const bool may_die = the_oracle->numbers.supervises(number) && may_end_processes(world_) && random.once_in(2);
  const auto deaths = static_cast<std::uint32_t>(may_die ? random.below(max_retries + 1) : 0);
  if (deaths != 0) note_faults();
  stoppable_call one;
  one.call = the_oracle->issue(node, stream_to(node));
  the_oracle->allow_late(one.call);
  one.inner = the_oracle->issue(number);
  the_oracle->set_nested(one.inner);
  the_oracle->allow_repeats(one.inner, max_retries + 1);
  the_oracle->issue(number);  // what it tries behind the stop
  the_oracle->allow_repeats(one.inner + 1, max_retries + 1);
  one.has_deadline = random.once_in(4);
  const std::chrono::nanoseconds limit(random.below(600'000));
  may_be_late_ = one.has_deadline;
  const bool started = attempt(one.call, true, [&] {
    one.result = offload::async(one.has_deadline ? offload::within(node, limit) : offload::stoppable(node),
                                fn<&until_retry_is_stopped>, one.call, number, one.inner, deaths);
  });
  may_be_late_ = false;
  if (!started) return;
  if (!random.once_in(4)) base::sleep_ns(static_cast<std::int64_t>(random.below(600'000)));
  one.asked = true;
  the_oracle->ask_to_stop(one.call);
  the_oracle->ask_to_stop(one.inner);
  one.result.request_stop(random.once_in(2) ? offload::when_stopped::after_answer : offload::when_stopped::at_once);
  settle(one);
}

}  // namespace ham::sim
