// How a graph is divided among its nodes, and which plans of a peer are refused.
#include "runtime/graph_plan.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "ham/offload/memory.hpp"

namespace graph_plan_test {

using namespace ham;
using namespace ham::offload::detail;

void stage_function() {}

std::uint32_t add_call(graph_recording& to, node_t node, std::vector<graph_argument> arguments = {}) {
  return record_call(to, node, call_of<std::decay_t<decltype(fn<&stage_function>)>>::message::entry(),
                     std::move(arguments));
}

graph_plan divided(const graph_recording& graph, std::uint32_t result) {
  return divide_graph(finish_recording(graph, result, {}), 0, 4);
}

/// input -> node 1 -> node 2 -> node 1.
struct chain : graph_recording {
  std::uint32_t in = record_input(*this, typeid(int));
  std::uint32_t a = add_call(*this, 1, {{in, {}}});
  std::uint32_t b = add_call(*this, 2, {{a, {}}});
  std::uint32_t c = add_call(*this, 1, {{b, {}}, {a, {}}});
};

TEST(graph_plan, each_node_gets_its_stages) {
  const graph_plan plan = divided(chain(), 3);
  EXPECT_EQ(plan.nodes, (std::vector<node_t>{0, 1, 2}));
  EXPECT_EQ(plan.parts[0].stages.size(), 1U);
  EXPECT_EQ(plan.parts[1].stages.size(), 2U);
  EXPECT_EQ(plan.parts[2].stages.size(), 1U);
  EXPECT_EQ(plan.parts[2].stages[0].number, 2U);
  for (const part_plan& part : plan.parts) EXPECT_EQ(part.frames, 4U);
}

TEST(graph_plan, only_what_needs_the_start_is_told_of_it) {
  const graph_plan plan = divided(chain(), 3);
  EXPECT_EQ(plan.parts[1].starting, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(plan.inputs[1], (std::vector<std::uint32_t>{0}));
  EXPECT_TRUE(plan.parts[0].starting.empty());
  EXPECT_TRUE(plan.parts[2].starting.empty());
}

TEST(graph_plan, one_message_goes_to_a_part_however_many_stages_wait_there) {
  chain graph;
  static_cast<void>(add_call(graph, 2, {{graph.a, {}}}));
  const graph_plan plan = divided(graph, graph.c);
  ASSERT_EQ(plan.parts[1].stages[0].targets.size(), 1U);
  EXPECT_TRUE(plan.parts[1].stages[0].targets[0].with_value);
  EXPECT_EQ(plan.parts[2].ports[plan.parts[1].stages[0].targets[0].port].size(), 2U);
  EXPECT_EQ(plan.parts[1].stages[0].next, (std::vector<std::uint32_t>{1}));
}

TEST(graph_plan, an_order_takes_no_value_along) {
  graph_recording graph;
  const auto a = add_call(graph, 1);
  const auto b = add_call(graph, 2);
  record_order(graph, b, a);
  const graph_plan plan = divided(graph, b);
  EXPECT_FALSE(plan.parts[1].stages[0].targets.at(0).with_value);
}

TEST(graph_plan, processes_whose_memory_was_recorded_are_known_here_only) {
  graph_recording graph;
  const graph_argument memory = encoded_argument(offload::buffer_ptr<int>());
  EXPECT_TRUE(memory.handles.empty()) << "it is nobody's";
  const auto a = add_call(graph, 1, {{no_stage, {}, {3, 4}}, {no_stage, {}, {4}}});
  const graph_plan plan = divided(graph, a);
  EXPECT_EQ(plan.handles, (std::vector<node_t>{3, 4}));
  for (const graph_argument& sent : plan.parts[1].stages[0].sources) EXPECT_TRUE(sent.handles.empty());
}

TEST(graph_plan, who_makes_the_result_sends_it_unless_the_first_part_has_more_to_do) {
  const graph_plan plan = divided(chain(), 3);
  EXPECT_EQ(plan.result_part, 1U);
  EXPECT_TRUE(plan.parts[1].stages[1].targets.at(0).is_result);
  EXPECT_FALSE(plan.parts[1].stages[0].targets.at(0).is_result) << "it goes to the other target";
  graph_recording with_own_stage;
  const auto a = add_call(with_own_stage, 1);
  const auto own = add_call(with_own_stage, 0, {{a, {}}});
  const graph_plan to_own = divided(with_own_stage, own);
  EXPECT_EQ(to_own.result_part, 0U);
  EXPECT_FALSE(to_own.parts[1].stages[0].targets.at(0).is_result);
  graph_recording two_ends;
  const auto first = add_call(two_ends, 1);
  static_cast<void>(add_call(two_ends, 2));
  EXPECT_EQ(divided(two_ends, first).result_part, 0U) << "it waits for both";
}

TEST(graph_plan, inputs_are_given_as_they_are_to_a_part_that_takes_all) {
  graph_recording graph;
  const auto a = record_input(graph, typeid(int));
  const auto b = record_input(graph, typeid(int));
  const auto both = add_call(graph, 1, {{a, {}}, {b, {}}});
  const auto swapped = add_call(graph, 2, {{b, {}}, {a, {}}, {both, {}}});
  const graph_plan plan = divided(graph, swapped);
  EXPECT_TRUE(plan.takes_all_inputs(1));
  EXPECT_FALSE(plan.takes_all_inputs(2));
  EXPECT_FALSE(plan.takes_all_inputs(0));
}

TEST(graph_plan, a_stage_of_a_repeat_waits_again_for_what_is_in_it) {
  graph_recording graph;
  const auto outside = add_call(graph, 1);
  const auto entry = begin_repeat(graph, nullptr);
  const auto inside = add_call(graph, 1, {{outside, {}}, {entry, {}}});
  const auto decision = end_repeat(graph, entry, inside, inside);
  const graph_plan plan = divided(graph, decision);
  const part_stage& stage = plan.parts[1].stages[2];
  EXPECT_EQ(stage.number, inside);
  EXPECT_EQ(stage.needs, 2U);
  EXPECT_EQ(stage.needs_again, 1U);
  EXPECT_EQ(plan.parts[1].stages[3].entry, 1U);
}

TEST(graph_plan, a_plan_whose_numbers_lead_nowhere_is_refused) {
  const part_plan good = divided(chain(), 3).parts[1];
  EXPECT_NO_THROW(check_part(good));
  const std::vector<std::function<void(part_plan&)>> mistakes{
      [](part_plan& p) { p.frames = 3; },
      [](part_plan& p) { p.frames = 0; },
      [](part_plan& p) { p.frames = 1U << 20; },
      [](part_plan& p) { p.inputs = part_plan::max_values; },
      [](part_plan& p) {
        p.frames = part_plan::max_frames;
        p.inputs = 100;
      },
      [](part_plan& p) { p.stages[0].number = no_stage; },
      [](part_plan& p) { p.own = 9; },
      [](part_plan& p) { p.stages.clear(); },
      [](part_plan& p) { p.neighbours.push_back(9); },
      [](part_plan& p) { p.starting.push_back(2); },
      [](part_plan& p) { p.ports.push_back({2}); },
      [](part_plan& p) { p.stages[0].next.push_back(2); },
      [](part_plan& p) {
        p.stages[0].targets.push_back({9, 0, false, false});
      },
      [](part_plan& p) {
        p.stages[0].targets.push_back({1, 0, false, true});
      },
      [](part_plan& p) {
        p.stages[0].sources.push_back({static_cast<std::uint32_t>(p.values()), {}});
      },
      [](part_plan& p) { p.stages[0].kind = 0; },
      [](part_plan& p) { p.stages[0].kind = 77; },
      [](part_plan& p) { p.stages[0].kind = static_cast<std::uint8_t>(stage_kind::transfer); },
      [](part_plan& p) { p.stages[0].kind = static_cast<std::uint8_t>(stage_kind::finish); },
      [](part_plan& p) { p.stages[0].kind = static_cast<std::uint8_t>(stage_kind::decision); }};
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    part_plan bad = good;
    mistakes[i](bad);
    EXPECT_THROW(check_part(bad), call_error) << i;
  }
}

}  // namespace graph_plan_test
