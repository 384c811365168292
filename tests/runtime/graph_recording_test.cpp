// What is checked of a recorded graph, and what is added to it before it is divided.
#include "runtime/graph_recording.hpp"

#include <algorithm>

#include "offload/loopback_job.hpp"

namespace graph_recording_test {

using namespace ham;
using namespace ham::offload::detail;
using ham::test::message_of;

void nothing() {}

std::uint32_t add_call(graph_recording& to, node_t node, std::vector<graph_argument> arguments = {}) {
  return record_call(to, node, call_of<std::decay_t<decltype(fn<&nothing>)>>::message::entry(), std::move(arguments));
}
bool needs(const finished_recording& of, std::uint32_t stage, std::uint32_t before) {
  const auto& all = of.needs[stage];
  return std::find(all.begin(), all.end(), before) != all.end();
}

TEST(graph_recording, the_last_stage_waits_for_the_result_and_for_all_that_nobody_else_waits_for) {
  graph_recording graph;
  const auto a = add_call(graph, 1);
  const auto b = add_call(graph, 2, {{a, {}}});
  const auto aside = add_call(graph, 1);
  const finished_recording made = finish_recording(graph, b, {});
  ASSERT_EQ(made.stages.size(), 4U);
  EXPECT_EQ(made.stages[3].kind, stage_kind::finish);
  EXPECT_TRUE(needs(made, 3, b));
  EXPECT_TRUE(needs(made, 3, aside));
  EXPECT_FALSE(needs(made, 3, a));
}

TEST(graph_recording, a_dependency_counts_once) {
  graph_recording graph;
  const auto a = add_call(graph, 1);
  const auto b = add_call(graph, 2, {{a, {}}, {a, {}}});
  record_order(graph, b, a);
  EXPECT_EQ(finish_recording(graph, b, {}).needs[b].size(), 1U);
}

TEST(graph_recording, an_iteration_begins_with_its_entry_and_ends_with_its_decision) {
  graph_recording graph;
  const std::uint32_t entry = begin_repeat(graph, nullptr);
  const auto root = add_call(graph, 1);
  const auto leaf = add_call(graph, 2);
  const auto decision = end_repeat(graph, entry, root, root);
  const finished_recording made = finish_recording(graph, decision, {});
  EXPECT_TRUE(needs(made, root, entry));
  EXPECT_TRUE(needs(made, leaf, entry));
  EXPECT_TRUE(needs(made, decision, leaf));
  EXPECT_EQ(made.stages[entry].node, 1);
  EXPECT_EQ(loop_of_begin(made.stages[entry]), 0U);
  EXPECT_EQ(loop_of_result(made.stages[entry]), 1U);
  EXPECT_EQ(loop_of_result(made.stages[decision]), 0U);
}

TEST(graph_recording, what_comes_before_a_repeat_comes_before_its_first_iteration) {
  graph_recording graph;
  const auto before = add_call(graph, 1);
  const std::uint32_t entry = begin_repeat(graph, nullptr);
  const auto body = add_call(graph, 2);
  const auto decision = end_repeat(graph, entry, body, body);
  record_order(graph, decision, before);
  EXPECT_THROW(record_order(graph, decision, body), config_error);
  const finished_recording made = finish_recording(graph, decision, {});
  EXPECT_TRUE(needs(made, entry, before));
  EXPECT_FALSE(needs(made, decision, before));
}

TEST(graph_recording, cycles_are_named) {
  graph_recording graph;
  const auto a = add_call(graph, 1);
  const auto b = add_call(graph, 1, {{a, {}}});
  const auto c = add_call(graph, 1, {{b, {}}});
  record_order(graph, a, b);
  record_name(graph, a, "one");
  record_name(graph, b, "two");
  const std::string why = message_of<config_error>([&] { static_cast<void>(finish_recording(graph, c, {})); });
  EXPECT_NE(why.find("stage 0 (one)"), std::string::npos) << why;
  EXPECT_NE(why.find("stage 1 (two)"), std::string::npos) << why;
  EXPECT_EQ(why.find("stage 2"), std::string::npos) << why;
}

TEST(graph_recording, inputs_are_named_all_and_once) {
  graph_recording graph;
  const auto x = record_input(graph, typeid(int));
  const auto y = record_input(graph, typeid(double));
  const auto call = add_call(graph, 1, {{x, {}}, {y, {}}});
  EXPECT_EQ(finish_recording(graph, call, {}).inputs, (std::vector{x, y}));
  const std::vector<std::uint32_t> swapped{y, x}, twice{x, x}, one{x}, other{x, call};
  EXPECT_EQ(finish_recording(graph, call, swapped).inputs, swapped);
  for (const auto& wrong : {twice, one, other})
    EXPECT_THROW(static_cast<void>(finish_recording(graph, call, wrong)), config_error);
}

TEST(graph_recording, what_makes_no_sense_is_refused_at_once) {
  graph_recording graph;
  EXPECT_THROW(static_cast<void>(add_call(graph, -1)), config_error);
  const auto x = record_input(graph, typeid(int));
  EXPECT_THROW(record_order(graph, x, x), config_error);
  EXPECT_THROW(static_cast<void>(node_of_stage(graph, x)), config_error);
  EXPECT_THROW(expect_same_graph(&graph, nullptr), config_error);
  const auto entry = begin_repeat(graph, nullptr);
  EXPECT_THROW(static_cast<void>(begin_repeat(graph, nullptr)), config_error);
  static_cast<void>(record_input(graph, typeid(int)));
  leave_repeat(graph, entry);
  EXPECT_EQ(graph.stages.size(), 1U);
  EXPECT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.open_loop, 0U);
}

}  // namespace graph_recording_test
