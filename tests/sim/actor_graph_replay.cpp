// Steps that replay graphs whose repeats have stages on several nodes, or whose functions poll for a stop: with tokens,
// and only if there is room.
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "sim/actor.hpp"
#include "sim/stopper.hpp"

namespace ham::inline v1::sim {
namespace {

/// Of an iteration, or of a function that polls: which earlier stages of it a stage uses, and which it is behind.
struct stage_order {
  std::size_t one = 0;  ///< 0: the input; else the stage of this number, less 1
  std::size_t other = 0;
  std::vector<std::uint32_t> behind;
};

stage_order any_order(std::size_t stage, random_source& random) {
  stage_order made;
  made.one = random.below(stage + 1);
  made.other = random.below(stage + 1);
  if (stage != 0 && random.once_in(2)) made.behind.push_back(static_cast<std::uint32_t>(random.below(stage)));
  return made;
}

}  // namespace

/// Some replays of a graph; those that begin only if there is room are begun until there is none.
void actor::replay(random_source& random) {
  constexpr std::size_t max_replays = 5;
  known_graph* which = nullptr;
  if (!graphs_.empty() && random.once_in(4))
    which = &graphs_[random.below(graphs_.size())];  // perhaps with replays in flight
  else
    which = random.once_in(2) ? repeat_on_nodes(random) : graph_that_polls(random);
  if (which == nullptr) return;
  const std::size_t count = 1 + random.below(max_replays);
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<graph_replay> one =
        random.once_in(2) ? start_if_room(*which, random) : start_stoppable(*which, random);
    if (one) replays_.push_back(std::move(*one));
  }
  while (!replays_.empty()) {
    graph_replay one = take_any(replays_, random);
    settle(one);
  }
  if (graphs_.size() > 3) graphs_.erase(graphs_.begin());
}

/// A stage, a repeat whose iterations have stages on several nodes, and a stage with what the repeat gives.
actor::known_graph* actor::repeat_on_nodes(random_source& random) {
  const auto width = static_cast<std::uint32_t>(1 + random.below(4));
  const auto turns = static_cast<std::int64_t>(1 + random.below(5));
  auto shape = std::make_shared<graph_shape>();
  shape->in_flight = 1 + random.below(3);
  std::vector<node_t> nodes;  // of an iteration
  std::vector<stage_order> order;
  for (std::uint32_t i = 0; i < width; ++i) {
    nodes.push_back(any_node(random));
    order.push_back(any_order(i, random));
  }
  const std::size_t uses_first = random.below(width);  // and the stage before the repeat
  const bool decides_elsewhere = random.once_in(2);
  const node_t decides = any_node(random);
  const std::int64_t takes_ns = some_time(random);
  for (std::int64_t done = 0; done < turns; ++done) shape->nodes.insert(shape->nodes.end(), nodes.begin(), nodes.end());
  shape->nodes.push_back(any_node(random));  // before
  shape->nodes.push_back(any_node(random));  // behind
  const auto before = static_cast<std::uint32_t>(shape->nodes.size() - 2);
  shape->result = [=](call_number first, std::int64_t value) {
    const std::int64_t given = result_of_stage(first, before, value, value);
    turn last{0, value};
    for (std::int64_t done = 0; done < turns; ++done) {
      std::vector<turn> made{last};
      for (std::uint32_t i = 0; i < width; ++i) {
        const turn& other = made[order[i].other];
        made.push_back(
            result_of_turn(first, {i, width}, made[order[i].one], i == uses_first ? turn{other.done, given} : other));
      }
      last = made.back();
    }
    return result_of_stage(first, before + 1, last.value, given);
  };
  return compile(shape, [&] {
    offload::graph recorded;
    const auto first = recorded.input<call_number>();
    const auto value = recorded.input<std::int64_t>();
    const auto given = recorded.call(shape->nodes[before], fn<&stage>, first, before, value, value, takes_ns);
    const auto initial = recorded.call(shape->nodes[before], fn<&first_turn>, value);
    const auto body = [&](auto begin) {
      std::vector<offload::graph_value<turn>> made{begin};
      for (std::uint32_t i = 0; i < width; ++i) {
        const stage_of_turn which{i, width};
        const stage_order& of = order[i];
        const auto record = [&](auto other) {
          return recorded.call(nodes[i], fn<&stage_of_repeat>, first, which, of.behind, made[of.one], made[of.other],
                               other, takes_ns);
        };
        const auto one = i == uses_first ? record(given) : record(std::int64_t{-1});
        for (const std::uint32_t earlier : of.behind) one.after(made[1 + earlier]);
        made.push_back(one);
      }
      return made.back();
    };
    const auto last =
        decides_elsewhere
            ? recorded.repeat(initial, body,
                              [&](auto done) { return recorded.call(decides, fn<&is_last_turn>, done, turns); })
            : recorded.repeat(initial, body,
                              [&](auto done) { return recorded.call(nodes.back(), fn<&is_last_turn>, done, turns); });
    const auto behind =
        recorded.call(shape->nodes[before + 1], fn<&stage_behind_repeat>, first, before + 1, last, given, takes_ns);
    return recorded.compile(behind, offload::graph_options{shape->in_flight}, first, value);
  });
}

/// Stages that go on until they are stopped, and stages that wait for them.
actor::known_graph* actor::graph_that_polls(random_source& random) {
  const std::size_t stages = 1 + random.below(4);
  auto shape = std::make_shared<graph_shape>();
  shape->in_flight = 1 + random.below(3);
  shape->polls = true;
  std::vector<stage_order> order;
  std::vector<bool> polls;
  for (std::size_t i = 0; i < stages; ++i) {
    shape->nodes.push_back(any_node(random));
    order.push_back(any_order(i, random));
    polls.push_back(random.once_in(2));
  }
  shape->result = [order](call_number first, std::int64_t value) {
    std::vector<std::int64_t> made{value};
    for (std::uint32_t i = 0; i < order.size(); ++i)
      made.push_back(result_of_stage(first, i, made[order[i].one], made[order[i].other]));
    return made.back();
  };
  return compile(shape, [&] {
    offload::graph recorded;
    const auto first = recorded.input<call_number>();
    const auto value = recorded.input<std::int64_t>();
    std::vector<offload::graph_value<std::int64_t>> made{value};
    for (std::uint32_t i = 0; i < stages; ++i) {
      const auto record = [&](const auto& function) {
        return recorded.call(shape->nodes[i], function, first, i, order[i].behind, made[order[i].one],
                             made[order[i].other]);
      };
      const auto one = polls[i] ? record(fn<&polling_stage>) : record(fn<&stage_behind>);
      for (const std::uint32_t earlier : order[i].behind) one.after(made[1 + earlier]);
      made.push_back(one);
    }
    return recorded.compile(made.back(), offload::graph_options{shape->in_flight}, first, value);
  });
}

/// By a token that this thread or another one stops, by the future, by a deadline, or not at all.
std::optional<actor::graph_replay> actor::start_stoppable(known_graph& which, random_source& random) {
  graph_replay one;
  one.shape = which.shape;
  one.first = issue_stages(which.shape->nodes);
  one.value = static_cast<std::int64_t>(random.below(1000));
  one.has_deadline = random.once_in(3);
  const bool has_token = random.once_in(2);
  const bool before = has_token && random.once_in(8);
  const bool by_future = !has_token && random.once_in(2);
  const auto pause = static_cast<std::int64_t>(random.below(200'000));
  const std::chrono::nanoseconds limit(random.below(600'000));
  const bool by_other_thread = has_token && random.once_in(2);
  one.asked = has_token || by_future;
  const auto ask_to_stop = [&] {
    for (std::size_t i = 0; i < one.shape->nodes.size(); ++i)
      the_oracle->ask_to_stop(one.first + static_cast<call_number>(i));
  };
  for (std::size_t i = 0; before && i < one.shape->nodes.size(); ++i)
    the_oracle->forbid(one.first + static_cast<call_number>(i));
  if (one.has_deadline || by_other_thread) ask_to_stop();
  stopper stops(before, by_other_thread, pause);
  try {
    const std::stop_token token = has_token ? stops.token() : std::stop_token();
    one.result = one.has_deadline ? which.replay.within(limit, token)(one.first, one.value)
                                  : which.replay.stoppable(token)(one.first, one.value);
  } catch (...) {
    expect_failed(one, std::current_exception());
    return std::nullopt;
  }
  if (one.asked) {
    if (random.once_in(2)) base::sleep_ns(pause);
    ask_to_stop();  // not before: stages of this node run while the replay is begun, by this thread
    if (by_future)
      one.result.request_stop();
    else
      stops.stop();
  }
  return one;
}

/// There is room while fewer replays than it may have are in flight, and then only.
std::optional<actor::graph_replay> actor::start_if_room(known_graph& which, random_source& random) {
  const auto describe = [&] { return std::to_string(which.replay.in_flight()) + " replays of a graph are in flight"; };
  graph_replay one;
  one.shape = which.shape;
  one.first = issue_stages(which.shape->nodes);
  one.value = static_cast<std::int64_t>(random.below(1000));
  const bool has_room = which.replay.in_flight() < one.shape->in_flight;
  std::optional<offload::future<std::int64_t>> begun;
  try {
    begun = which.replay.try_start(one.first, one.value);
  } catch (...) {
    expect_failed(one, std::current_exception());
    return std::nullopt;
  }
  if (which.replay.in_flight() > one.shape->in_flight) running->fail(describe() + ", which are too many");
  if (begun) {
    one.result = std::move(*begun);
    return one;
  }
  if (has_room) running->fail("a replay does not begin, though there is room: " + describe());
  for (std::size_t i = 0; i < one.shape->nodes.size(); ++i)
    the_oracle->fail(one.first + static_cast<call_number>(i), call_outcome::not_run,
                     "there was no room for its replay");
  return std::nullopt;
}

}  // namespace ham::sim
