// Recorded graphs: several replays in flight, repeats, stages that throw, nodes that die in between.
#include <string>
#include <utility>
#include <vector>

#include "ham/offload/graph.hpp"
#include "soak/verbs.hpp"

namespace soak {
namespace {

struct replay {
  std::vector<stamp> made;
  std::uint64_t number;
  offload::future<std::uint64_t> result;
};

/// A replay has a value: then each stage ran once. Else it has failed with one of its nodes.
void take_replay(worker& self, replay& one, std::uint64_t wanted) {
  try {
    const std::uint64_t value = one.result.get();
    for (const stamp stage : one.made) self.expect(stage, runs::once);
    if (value != wanted) report("the result of a replay is wrong");
  } catch (const node_failure& why) {
    self.lost(stamp{}, -2, why);  // of a stage; the others have run, or not
  }
}

}  // namespace

/// Two branches that meet on a third node. Compiled once, replayed as often as there is room, and beyond that.
void graph_verb(worker& self) {
  const node_t left_node = self.any_node();
  const node_t right_node = self.node_at(self.below(self.nodes()));
  const node_t last_node = self.node_at(self.below(self.nodes()));
  offload::graph g;
  auto first = g.input<stamp>();
  auto second = g.input<stamp>();
  auto third = g.input<stamp>();
  auto number = g.input<std::uint64_t>();
  auto left = g.call(left_node, fn<&work>, first, number);
  auto right = g.call(right_node, fn<&work>, second, left);
  auto last = g.call(last_node, fn<&merge>, third, left, right);
  auto step = g.compile(last, {.in_flight = 1 + self.below(8)}, first, second, third, number);
  std::vector<replay> replays;
  const std::uint64_t count = 1 + self.below(30);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::vector<stamp> made{self.claim(), self.claim(), self.claim()};
    const std::uint64_t value = self.random();
    if (self.below(4) != 0) {
      replays.push_back({made, value, step(made[0], made[1], made[2], value)});
      continue;
    }
    auto started = step.try_start(made[0], made[1], made[2], value);
    if (started) {
      replays.push_back({made, value, std::move(*started)});
      continue;
    }
    for (const stamp one : made) {
      self.expect(one, runs::never);
      self.uncount();
    }
  }
  for (replay& one : replays) take_replay(self, one, merged(mixed(one.number), mixed(mixed(one.number))));
}

/// Iterations without this node, and bytes that each replay puts and gets.
void repeat_verb(worker& self) {
  const node_t node = self.any_node();
  const node_t other = self.node_at(self.below(self.nodes()));
  const bytes sent = pattern(self.random(), 1 + self.below(1U << 12U));
  bytes back(sent.size());
  const offload::buffer<std::uint8_t> there(node, sent.size());
  offload::graph g;
  auto turns = g.input<std::uint64_t>();
  auto counted_down = g.repeat(
      turns, [&](offload::graph_value<std::uint64_t> left) { return g.call(node, fn<&one_less>, left); }, fn<&is_zero>);
  auto put = g.put(sent, there).after(counted_down);
  auto got = g.get(there, back).after(put);
  const stamp call = self.claim();
  auto last = g.call(other, fn<&work>, call, counted_down).after(got);
  auto step = g.compile(last);
  self.count_calls(6);
  self.take(step(1 + self.below(20)), call, other, mixed(0));
}

void failing_graph_verb(worker& self) {
  const node_t node = self.any_node();
  const node_t other = self.node_at(self.below(self.nodes()));
  offload::graph g;
  auto first = g.input<stamp>();
  auto second = g.input<stamp>();
  auto third = g.input<stamp>();
  auto number = g.input<std::uint64_t>();
  auto begun = g.call(node, fn<&work>, first, number);
  auto failed = g.call(other, fn<&failing_stage>, second, begun).name("fails");
  auto step = g.compile(g.call(node, fn<&work>, third, failed));
  const std::vector<stamp> made{self.claim(), self.claim(), self.claim()};
  const std::uint64_t value = self.random();
  try {
    static_cast<void>(step(made[0], made[1], made[2], value).get());
    self.wrong(other, "a replay gives a result though a stage throws");
  } catch (const stage_error& why) {
    self.expect(made[0], runs::once);
    self.expect(made[1], runs::once);
    self.expect(made[2], runs::never);
    if (why.name() != "fails" || why.node() != other)
      self.wrong(other, std::string("another stage has failed: ") + why.what());
  } catch (const node_failure& why) {
    self.lost(stamp{}, -2, why);
  }
}

/// The process of a supervised node dies while replays are in flight: each settles, and the graph goes on.
void graph_death_verb(worker& self) {
  supervised_target* const target = self.supervised();
  if (target == nullptr) return;
  self.on_node(target->number());
  const node_t stays = self.node_at(0);
  const std::uint64_t mark = target->mark();
  try {
    offload::graph g;
    auto first = g.input<stamp>();
    auto second = g.input<stamp>();
    auto number = g.input<std::uint64_t>();
    auto begun = g.call(target->number(), fn<&work>, first, number);
    auto step = g.compile(g.call(stays, fn<&work>, second, begun), first, second, number);
    for (int round = 0; round < 2; ++round) {
      const std::uint64_t round_mark = target->mark();
      std::vector<replay> replays;
      for (int i = 0; i < 4; ++i) {
        const std::vector<stamp> made{self.claim(), self.claim()};
        const std::uint64_t value = self.random();
        replays.push_back({made, value, step(made[0], made[1], value)});
      }
      if (round == 0 && target->death_is_due()) target->replace_process();
      for (replay& one : replays) {
        try {
          const std::uint64_t value = one.result.get();
          for (const stamp stage : one.made) self.expect(stage, runs::once);
          if (value != mixed(mixed(one.number))) report("the result of a replay is wrong");
        } catch (const node_failure& why) {
          static_cast<void>(may_be_lost(self, round_mark, why));
        }
      }
    }
  } catch (const node_failure& why) {  // of compile(), or of a replay that could not be installed
    static_cast<void>(may_be_lost(self, mark, why));
  }
}

}  // namespace soak
