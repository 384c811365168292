// Steps that replay recorded graphs.
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {

/// Replays that are waited for at once, or later; some are stopped, or have a deadline.
void actor::graph(random_source& random, bool on_device) {
  constexpr std::size_t max_kept = 4;
  known_graph* const which = any_graph(random, on_device);
  if (which == nullptr) return;
  std::optional<graph_replay> one = start(*which, random);
  if (!one) return;
  if (one->asked || random.once_in(2))
    settle(*one);
  else
    replays_.push_back(std::move(*one));
  while (replays_.size() > max_kept) {
    graph_replay settled = take_any(replays_, random);
    settle(settled);
  }
}

/// nullptr: it cannot be compiled, because a node is lost.
actor::known_graph* actor::any_graph(random_source& random, bool on_device) {
  constexpr std::size_t max_graphs = 3;
  if (!graphs_.empty() && random.once_in(8)) graphs_.erase(graphs_.begin());  // waits for its replays
  if (!graphs_.empty() && (graphs_.size() == max_graphs || !random.once_in(3)))
    return &graphs_[random.below(graphs_.size())];
  constexpr std::size_t max_stages = 6;
  constexpr std::size_t the_input = SIZE_MAX;
  auto shape = std::make_shared<graph_shape>();
  const bool repeats = random.once_in(3);
  const std::size_t stages = 1 + random.below(max_stages);
  shape->in_flight = 1 + random.below(3);
  const std::int64_t takes_ns = some_time(random);
  const node_t looping = any_node(random);
  const auto earlier = [&](std::size_t stage) {
    return stage == 0 || random.once_in(4) ? the_input : random.below(stage);
  };
  std::vector<std::pair<std::size_t, std::size_t>> takes;  // the stages whose results a stage takes, or the input
  for (std::size_t i = 0; i < stages; ++i) {
    shape->nodes.push_back(repeats ? looping : any_node(random));
    takes.emplace_back(earlier(i), earlier(i));
  }
  shape->result = [repeats, takes](call_number first, std::int64_t value) {
    if (repeats) return static_cast<std::int64_t>(takes.size());
    std::vector<std::int64_t> made;
    const auto given_by = [&](std::size_t from) { return from == the_input ? value : made[from]; };
    for (std::size_t i = 0; i < takes.size(); ++i) {
      made.push_back(
          result_of_stage(first, static_cast<std::uint32_t>(i), given_by(takes[i].first), given_by(takes[i].second)));
    }
    return made.back();
  };
  return compile(shape, [&] {
    offload::graph recorded;
    const auto first = recorded.input<call_number>();
    const auto value = recorded.input<std::int64_t>();
    std::vector<offload::graph_value<std::int64_t>> made;
    const auto given_by = [&](std::size_t from) { return from == the_input ? value : made[from]; };
    if (repeats) {
      const auto wanted = static_cast<std::int64_t>(stages);
      made.push_back(recorded.repeat(
          std::int64_t{0},
          [&](auto done) {
            return on_device ? recorded.call(looping, fn<&device_iteration>, first, done, takes_ns)
                             : recorded.call(looping, fn<&iteration>, first, done, takes_ns);
          },
          [&](auto done) { return recorded.call(looping, fn<&has_iterated>, done, wanted); }));
    } else {
      for (std::size_t i = 0; i < stages; ++i) {
        const auto record = [&](const auto& function) {
          return recorded.call(shape->nodes[i], function, first, static_cast<std::uint32_t>(i),
                               given_by(takes[i].first), given_by(takes[i].second), takes_ns);
        };
        made.push_back(on_device && !random.once_in(4) ? record(fn<&device_stage>) : record(fn<&stage>));
      }
    }
    return recorded.compile(made.back(), offload::graph_options{shape->in_flight}, first, value);
  });
}

actor::known_graph* actor::compile(std::shared_ptr<const graph_shape> shape,
                                   const std::function<known_graph::compiled()>& record) {
  return try_to_compile([&] { graphs_.push_back({std::move(shape), record()}); }) ? &graphs_.back() : nullptr;
}

bool actor::try_to_compile(const std::function<void()>& record_and_compile) {
  try {
    record_and_compile();
    return true;
  } catch (const node_failure& lost) {
    if (!faults_.any) running->fail(std::string("a node of a graph is lost without a reason: ") + lost.what());
  } catch (const call_error& refused) {
    if (!faults_.any && !faults_.any_added)
      running->fail(std::string("a node refuses its part of a graph without a reason: ") + refused.what());
  } catch (const config_error& gone) {
    if (!faults_.any) running->fail(std::string("a graph cannot be compiled without a reason: ") + gone.what());
  } catch (const buffer_error& old) {  // memory of a process that was replaced
    if (!faults_.any_added) running->fail(std::string("memory of a graph is not known: ") + old.what());
  }
  return false;
}

/// The number of the first.
call_number actor::issue_stages(const std::vector<node_t>& nodes) {
  call_number first = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const call_number call = the_oracle->issue(nodes[i]);
    if (i == 0) first = call;
    the_oracle->set_nested(call);
    the_oracle->allow_late(call);  // no further one begins when another one has failed
  }
  return first;
}

std::optional<actor::graph_replay> actor::start(known_graph& which, random_source& random) {
  graph_replay one;
  one.shape = which.shape;
  one.first = issue_stages(which.shape->nodes);
  one.value = static_cast<std::int64_t>(random.below(1000));
  one.has_deadline = random.once_in(4);
  one.asked = random.once_in(4);
  const std::chrono::nanoseconds limit(random.below(600'000));
  const std::int64_t pause = random.once_in(2) ? static_cast<std::int64_t>(random.below(200'000)) : 0;
  try {
    one.result =
        one.has_deadline ? which.replay.within(limit)(one.first, one.value) : which.replay(one.first, one.value);
  } catch (...) {
    expect_failed(one, std::current_exception());
    return std::nullopt;
  }
  if (one.asked) {
    if (pause != 0) base::sleep_ns(pause);
    one.result.request_stop();
  }
  return one;
}

void actor::settle(graph_replay& one) {
  try {
    const std::int64_t value = one.result.get();
    const auto last = static_cast<call_number>(one.shape->nodes.size() - 1);
    for (call_number i = 0; i < last; ++i) the_oracle->settle(one.first + i, 1, 1);  // it has run
    the_oracle->settle(one.first + last, value, one.shape->result(one.first, one.value));
  } catch (...) {
    expect_failed(one, std::current_exception());
  }
}

void actor::expect_failed(const graph_replay& one, const std::exception_ptr& why) {
  static_cast<void>(expect_stages_failed(one.first, one.shape->nodes.size(), {one.has_deadline, one.asked}, why));
}

/// Of a replay that is over. Gives what is known of it.
call_outcome actor::expect_stages_failed(call_number first, std::size_t count, const group_terms& how,
                                         const std::exception_ptr& why) {
  const auto fail = [&](call_outcome outcome, const char* text) {
    for (std::size_t i = 0; i < count; ++i) the_oracle->fail(first + static_cast<call_number>(i), outcome, text);
    return outcome;
  };
  try {
    std::rethrow_exception(why);
  } catch (const node_failure& lost) {
    if (!faults_.any) running->fail(std::string("a node of a graph is lost without a reason: ") + lost.what());
    return fail(call_outcome::may_have_run, lost.what());
  } catch (const deadline_exceeded& late) {
    if (!how.has_deadline) running->fail(std::string("a replay has no deadline: ") + late.what());
    return fail(outcome_for(late.outcome()), late.what());
  } catch (const operation_cancelled& stopped) {
    if (!how.asked) running->fail(std::string("a replay is stopped, and nobody has asked for it: ") + stopped.what());
    return fail(outcome_for(stopped.outcome()), stopped.what());
  } catch (const stage_error& failed) {  // no stage throws, but a device may fail on a node that can still say so
    if (!faults_.any) running->fail(std::string("a stage fails without a reason: ") + failed.what());
    return fail(call_outcome::may_have_run, failed.what());
  } catch (const call_error& refused) {
    if (!faults_.any && !faults_.any_added)
      running->fail(std::string("a graph cannot be replayed without a reason: ") + refused.what());
    return fail(call_outcome::may_have_run, refused.what());
  } catch (const buffer_error& old) {  // memory of a process that was replaced
    if (!faults_.any_added) running->fail(std::string("memory of a graph is not known: ") + old.what());
    return fail(call_outcome::may_have_run, old.what());
  }
}

void actor::end_graphs() {
  for (graph_replay& one : replays_) settle(one);
  replays_.clear();
  graphs_.clear();
}

}  // namespace ham::sim
