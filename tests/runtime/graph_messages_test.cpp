// What nodes tell each other of graphs: parts that are refused, and nodes that are asked whether they are there.
#include "runtime/graph_messages.hpp"

#include <atomic>
#include <vector>

#include "ham/offload/unobserved_error.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {
void install_graph_part(node_t from, const offload::detail::part_plan& plan);
}

namespace graph_messages_test {

using namespace ham;
using namespace ham::test;
using ham::offload::detail::current;

using graph_messages = two_targets;

/// It would tell its end to the graph, which is not here.
TEST_F(graph_messages, takes_from_nobody_the_part_of_who_has_compiled_the_graph) {
  auto& parts = current().graphs;
  const std::uint64_t id = parts.reserve();
  offload::detail::part_plan plan;
  plan.parts = {{1, id}};
  plan.stages.emplace_back();
  plan.stages[0].kind = static_cast<std::uint8_t>(offload::detail::stage_kind::finish);
  plan.stages[0].needs = 1;
  plan.starting = {0};
  EXPECT_THROW(ham::detail::install_graph_part(1, plan), call_error);
  EXPECT_FALSE(parts.hold(id));
}

std::atomic<int> errors_told{0};

TEST_F(graph_messages, where_several_nodes_refuse_one_error_is_thrown_and_none_is_told) {
  std::vector<offload::detail::part_plan> plans(2);
  for (node_t node = 1; node <= 2; ++node) {
    offload::detail::part_plan& plan = plans[static_cast<std::size_t>(node) - 1];
    plan.parts = {{node, 1}};  // that of who has compiled it: nobody takes it
    plan.stages.emplace_back();
    plan.stages[0].kind = static_cast<std::uint8_t>(offload::detail::stage_kind::finish);
    plan.stages[0].needs = 1;
    plan.starting = {0};
  }
  errors_told = 0;
  const auto before = on_unobserved_error([](const unobserved_error&) { ++errors_told; });
  EXPECT_THROW(ham::detail::install_parts(current(), plans, {}), call_error);
  on_unobserved_error(before);
  EXPECT_EQ(errors_told, 0);
}

TEST_F(graph_messages, a_node_that_answers_is_told_to_who_asks) {
  std::atomic<bool> answered{false};
  ham::detail::probe_node(current(), 1, [&] { answered = true; });
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(offload::sync(1, [] { return 1; }));
    return answered.load();
  }));
}

}  // namespace graph_messages_test
