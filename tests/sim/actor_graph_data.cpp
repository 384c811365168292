// Steps that replay graphs whose stages move data, and calculate with it where it is.
#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "sim/actor.hpp"
#include "sim/stopper.hpp"

namespace ham::inline v1::sim {
using graph_numbers = std::vector<std::int32_t>;

enum class data_stage : std::uint8_t { put, get, copy, sum, add };

/// What a stage reads and writes: numbers of memories. Those of the host, which puts read and gets write, come first.
struct data_step {
  data_stage kind = data_stage::sum;
  std::size_t from = 0;
  std::size_t to = 0;  ///< the same as `from` for calls
  std::int32_t adds = 0;
  std::vector<std::size_t> behind;      ///< stages
  std::optional<std::uint32_t> called;  ///< the how manieth call

  [[nodiscard]] bool reads(std::size_t memory) const noexcept { return from == memory; }
  [[nodiscard]] bool writes(std::size_t memory) const noexcept { return kind != data_stage::sum && to == memory; }
};

namespace {

/// Whether the order of two stages matters.
bool conflict(const data_step& one, const data_step& other, std::size_t memories) {
  for (std::size_t i = 0; i < memories; ++i) {
    if ((one.writes(i) && (other.reads(i) || other.writes(i))) || (one.reads(i) && other.writes(i))) return true;
  }
  return false;
}

}  // namespace

/// The memories of a graph, what its stages do with them, and what they hold one after the other.
struct actor::data_graph {
  static constexpr std::size_t of_host = 2;
  std::size_t count = 0;
  std::vector<graph_numbers> here = std::vector<graph_numbers>(of_host);
  std::vector<buffer_ptr<std::int32_t>> there;
  std::vector<data_step> steps;
  std::size_t result = 0;                            ///< the stage that gives it
  std::vector<node_t> nodes;                         ///< of the calls
  std::vector<std::vector<graph_numbers>> contents;  ///< of each memory, in a replay; the first are those before it

  [[nodiscard]] std::size_t memories() const noexcept { return of_host + there.size(); }
  [[nodiscard]] node_t node_of(std::size_t memory) const { return there[memory - of_host].node(); }

  /// What a replay does to the contents; gives its result.
  std::int64_t run() {
    std::int64_t given = 0;
    for (auto& one : contents) one.erase(one.begin(), one.end() - 1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const data_step& step = steps[i];
      graph_numbers values = contents[step.from].back();
      const std::int64_t sum = sum_of(values.data(), count);
      for (std::int32_t& value : values) value = sum_without_carry(value, step.adds);
      if (step.writes(step.to)) contents[step.to].push_back(std::move(values));
      if (i == result) given = step.kind == data_stage::sum ? sum : static_cast<std::int64_t>(count);
    }
    return given;
  }
  /// Whether memory holds what it held before the replay or behind a stage, each element by itself.
  [[nodiscard]] bool may_hold(std::size_t memory, const graph_numbers& values) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (std::ranges::none_of(contents[memory], [&](const graph_numbers& one) { return one[i] == values[i]; }))
        return false;
    }
    return true;
  }
};

void actor::data_in_graph(random_source& random) {
  data_graph of;
  of.count = random.once_in(6) ? 1'000 + random.below(1'500) : 1 + random.below(120);
  if (!prepare(of, random)) return;
  for (std::size_t i = 0; i < of.memories(); ++i) of.contents.push_back({any_values(of.count, random)});
  any_stages(of, random);
  std::optional<data_replay> replay;
  bool known = try_to_compile([&] { replay.emplace(record(of)); });
  for (std::size_t i = 0; known && i < of.there.size(); ++i) {
    known = use(of.there[i].node(),
                [&] { offload::put_sync(of.contents[data_graph::of_host + i].back().data(), of.there[i], of.count); });
  }
  for (std::uint64_t rounds = 1 + random.below(4); known && rounds != 0; --rounds) {
    for (std::size_t i = 0; i < data_graph::of_host; ++i) {
      of.contents[i] = {any_values(of.count, random)};
      std::ranges::copy(of.contents[i].back(), of.here[i].begin());
    }
    known = replay_once(of, replay, random);
  }
  replay.reset();
  if (!known) return;  // functions of a replay that has failed may still run, and use the memory
  for (const auto& at : of.there) use(at.node(), [&] { offload::free(at); });
}

/// False: a node is lost.
bool actor::prepare(data_graph& of, random_source& random) {
  for (graph_numbers& one : of.here) one.resize(of.count);
  for (std::uint64_t left = 1 + random.below(3); left != 0; --left) {
    const node_t node = any_node(random);
    if (!use(node, [&] { of.there.push_back(offload::allocate<std::int32_t>(node, of.count)); })) return false;
  }
  return true;
}

/// Each is behind all earlier ones with which the order matters, and some others.
void actor::any_stages(data_graph& of, random_source& random) {
  constexpr std::size_t max_stages = 9;
  const auto any_there = [&] { return data_graph::of_host + random.below(of.there.size()); };
  const std::size_t count = 1 + random.below(max_stages);
  for (std::size_t i = 0; i < count; ++i) {
    data_step one;
    one.kind = static_cast<data_stage>(i + 1 == count ? 3 : random.below(5));  // a sum is the last one
    const bool is_put = one.kind == data_stage::put;
    one.from = is_put ? random.below(data_graph::of_host) : any_there();
    one.to = one.kind == data_stage::get              ? random.below(data_graph::of_host)
             : is_put || one.kind == data_stage::copy ? any_there()
                                                      : one.from;
    if (one.kind == data_stage::copy && one.to == one.from) one.kind = data_stage::add;
    if (one.kind == data_stage::add) one.adds = static_cast<std::int32_t>(1 + random.below(1000));
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (conflict(one, of.steps[earlier], of.memories()) || random.once_in(6)) one.behind.push_back(earlier);
    }
    if (one.kind == data_stage::sum || one.kind == data_stage::add) {
      one.called = static_cast<std::uint32_t>(of.nodes.size());
      of.nodes.push_back(offload::number_of(of.node_of(one.from)));
      if (i + 1 == count || random.once_in(2)) of.result = i;
    }
    of.steps.push_back(std::move(one));
  }
  const auto calls = [&](std::size_t stage) { return of.steps[stage].called.has_value(); };
  if (!calls(of.result) || random.once_in(2)) return;
  for (std::size_t i = 0; i < count; ++i) {  // the first of them: the replay goes on behind its result
    if (calls(i)) {
      of.result = i;
      return;
    }
  }
}

actor::data_replay actor::record(data_graph& of) {
  offload::graph recorded;
  const auto first = recorded.input<call_number>();
  using moved = offload::graph_value<void>;
  using called = offload::graph_value<std::int64_t>;
  std::vector<std::pair<std::optional<moved>, std::optional<called>>> made;
  const auto at = [&](std::size_t memory) { return of.there[memory - data_graph::of_host]; };
  const auto order = [&](const auto& stage, const data_step& step) {
    for (const std::size_t earlier : step.behind) {
      if (made[earlier].first)
        stage.after(*made[earlier].first);
      else
        stage.after(*made[earlier].second);
    }
  };
  for (const data_step& step : of.steps) {
    std::vector<std::uint32_t> behind;
    for (const std::size_t earlier : step.behind) {
      if (of.steps[earlier].called) behind.push_back(*of.steps[earlier].called);
    }
    std::pair<std::optional<moved>, std::optional<called>> stage;
    switch (step.kind) {
      case data_stage::put: stage.first = recorded.put(of.here[step.from].data(), at(step.to), of.count); break;
      case data_stage::get: stage.first = recorded.get(at(step.from), of.here[step.to].data(), of.count); break;
      case data_stage::copy: stage.first = recorded.copy(at(step.from), at(step.to), of.count); break;
      default:
        stage.second = recorded.call(of.nodes[*step.called], fn<&data_in_stage>, first, *step.called, behind,
                                     at(step.from), static_cast<std::uint64_t>(of.count), step.adds);
        break;
    }
    if (stage.first)
      order(*stage.first, step);
    else
      order(*stage.second, step);
    made.push_back(std::move(stage));
  }
  return recorded.compile(*made[of.result].second, offload::graph_options{1}, first);
}

/// When its future has settled with a value, all of its stages have ended. False: what memory holds is not known.
bool actor::replay_once(data_graph& of, std::optional<data_replay>& replay, random_source& random) {
  const group_terms how{random.once_in(5), random.once_in(4)};
  const bool by_token = how.asked && random.once_in(2);
  const std::chrono::nanoseconds limit(random.below(600'000));
  stopper stops(false, by_token && random.once_in(2), static_cast<std::int64_t>(random.below(200'000)));
  const call_number first = issue_stages(of.nodes);
  const std::int64_t expected = of.run();
  try {
    const std::stop_token token = by_token ? stops.token() : std::stop_token();
    auto result = how.has_deadline ? replay->within(limit, token)(first)
                  : by_token       ? replay->stoppable(token)(first)
                                   : (*replay)(first);
    if (how.asked) {
      if (random.once_in(2)) base::sleep_ns(static_cast<std::int64_t>(random.below(200'000)));
      if (by_token)
        stops.stop();
      else
        result.request_stop();
    }
    const std::int64_t value = result.get();
    for (std::size_t i = 0; i < of.steps.size(); ++i) {
      if (!of.steps[i].called) continue;
      const call_number call = first + *of.steps[i].called;
      if (i == of.result)
        the_oracle->settle(call, value, expected);
      else
        the_oracle->settle(call, 1, 1);
      if (!the_oracle->has_ended(call)) running->fail(the_oracle->describe(call) + " goes on behind its replay");
    }
  } catch (...) {
    expect_contents(of, expect_stages_failed(first, of.nodes.size(), how, std::current_exception()), replay);
    return false;
  }
  for (std::size_t i = 0; i < data_graph::of_host; ++i) {
    if (of.here[i] != of.contents[i].back()) running->fail("a replay has ended, and its gets have not");
  }
  for (std::size_t i = data_graph::of_host; i < of.memories(); ++i) {
    graph_numbers now(of.count);
    const node_t node = of.node_of(i);
    if (!use(node, [&] { offload::get_sync(of.there[i - data_graph::of_host], now.data(), of.count); })) return false;
    if (now != of.contents[i].back())
      running->fail("memory of node " + std::to_string(node) + " holds other bytes than a graph has moved there");
  }
  return true;
}

/// Of a replay that has failed. Behind the end of the graph nothing touches the memory of the host any more.
void actor::expect_contents(data_graph& of, call_outcome outcome, std::optional<data_replay>& replay) {
  const bool may_be_torn = faults_.any;  // a message of a process that has died
  if (outcome == call_outcome::not_run) {
    for (auto& one : of.contents) one.erase(one.begin() + 1, one.end());
  }
  replay.reset();
  constexpr std::int32_t garbage = -77;
  for (std::size_t i = 0; i < data_graph::of_host; ++i) {
    if (!may_be_torn && !of.may_hold(i, of.here[i]))
      running->fail("memory of the host holds other bytes than the stages of a graph that has failed get");
    std::ranges::fill(of.here[i], garbage);
  }
  for (std::size_t i = data_graph::of_host; i < of.memories(); ++i) {
    graph_numbers now(of.count);
    const node_t node = of.node_of(i);
    if (!use(node, [&] { offload::get_sync(of.there[i - data_graph::of_host], now.data(), of.count); })) continue;
    if (!may_be_torn && !of.may_hold(i, now))
      running->fail("memory of node " + std::to_string(node) + " holds other bytes than stages have moved there");
  }
  for (const graph_numbers& one : of.here) {
    if (std::ranges::any_of(one, [](std::int32_t value) { return value != garbage; }))
      running->fail("a graph that has gone touches memory of the host");
  }
}

}  // namespace ham::sim
