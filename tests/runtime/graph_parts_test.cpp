// The parts of graphs of a node, by number.
#include "runtime/graph_parts.hpp"

#include <memory>
#include <vector>

#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"

namespace graph_parts_test {

using namespace ham;
using namespace ham::test;
using ham::offload::detail::current;

using graph_parts = two_targets;

std::shared_ptr<ham::detail::graph_part> some_part(node_t from) {
  offload::detail::part_plan plan;
  plan.parts = {{from, 1}};
  plan.stages.emplace_back();
  plan.stages[0].kind = static_cast<std::uint8_t>(offload::detail::stage_kind::entry);
  return std::make_shared<ham::detail::graph_part>(current(), from, plan);
}

TEST_F(graph_parts, a_part_is_found_until_it_is_released) {
  auto& parts = current().graphs;
  const std::uint64_t id = parts.reserve();
  EXPECT_FALSE(parts.hold(id));
  const auto part = some_part(0);
  parts.install(id, part);
  EXPECT_EQ(parts.hold(id).operator->(), part.get());
  EXPECT_FALSE(parts.hold(id + 1));
  EXPECT_THROW(parts.install(id, part), call_error);
  EXPECT_THROW(parts.install(id + 1, part), call_error);
  parts.release(id);
  parts.release(id);
  EXPECT_FALSE(parts.hold(id));
  EXPECT_EQ(parts.installed(), 0U);
}

TEST_F(graph_parts, what_is_held_stays_until_it_is_let_go) {
  auto& parts = current().graphs;
  const std::uint64_t id = parts.reserve();
  std::weak_ptr<ham::detail::graph_part> seen;
  {
    const auto part = some_part(0);
    seen = part;
    parts.install(id, part);
  }
  {
    const auto first = parts.hold(id);
    {
      const auto second = parts.hold(id);
      parts.release(id);
      parts.release(id);
    }
    EXPECT_FALSE(parts.hold(id));
    EXPECT_FALSE(seen.expired());
    EXPECT_EQ(&*seen.lock(), first.operator->());
    EXPECT_THROW(parts.install(id, some_part(0)), call_error);
  }
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(parts.installed(), 0U);
}

TEST_F(graph_parts, what_is_held_stays_when_its_node_is_lost) {
  auto& at = current();
  const std::uint64_t id = at.graphs.reserve();
  at.graphs.install(id, some_part(2));
  {
    const auto held = at.graphs.hold(id);
    at.locked([&] { at.graphs.lose(2, "test"); });
    EXPECT_FALSE(at.graphs.hold(id));
    EXPECT_EQ(held->from(), 2);
  }
  EXPECT_EQ(at.graphs.installed(), 0U);
}

TEST_F(graph_parts, numbers_are_not_used_again) {
  auto& parts = current().graphs;
  const std::uint64_t first = parts.reserve();
  parts.release(first);
  EXPECT_NE(parts.reserve(), first);
}

TEST_F(graph_parts, parts_of_a_node_that_is_lost_go) {
  auto& at = current();
  const std::uint64_t other = at.graphs.reserve();
  const std::uint64_t own = at.graphs.reserve();
  at.graphs.install(other, some_part(2));
  at.graphs.install(own, some_part(0));
  at.locked([&] { at.graphs.lose(2, "test"); });
  EXPECT_FALSE(at.graphs.hold(other));
  EXPECT_TRUE(at.graphs.hold(own));
  EXPECT_EQ(at.graphs.installed(), 1U);
}

/// A graph that says which results it was given.
struct asked_graph final : ham::detail::replay_owner {
  void lose(node_t) noexcept override {}
  bool expire(ham::detail::call_slot&) noexcept override { return false; }
  bool stop(ham::detail::call_slot&) noexcept override { return false; }
  std::uint32_t number_of(const ham::detail::call_slot&) const noexcept override { return 0; }
  void take_result(node_t, std::uint32_t replay, std::span<const std::byte>) noexcept override {
    results.push_back(replay);
  }
  std::shared_ptr<ham::detail::replay_owner> keep() override { return nullptr; }
  void announce_stop(std::uint32_t) noexcept override {}
  std::vector<std::uint32_t> results;
};

TEST_F(graph_parts, a_result_is_given_to_the_graph_that_it_is_of_only) {
  auto& at = current();
  std::vector<asked_graph> all(20);
  for (asked_graph& one : all) at.graphs.enlist(one);
  const auto expect_results = [&](std::size_t which, std::uint64_t part) {
    at.locked([&] { at.graphs.expect_results(all[which], part); });
  };
  const auto take_result = [&](std::uint64_t part, std::uint32_t replay) {
    at.locked([&] { at.graphs.take_result(1, part, replay, {}); });
  };
  for (std::size_t i = 0; i < 15; ++i) expect_results(i * 7 % 20, 100 + i * 7 % 20);
  expect_results(7, 300);  // installed again
  expect_results(14, 90);
  for (std::uint64_t part = 0; part < 310; ++part) take_result(part, static_cast<std::uint32_t>(part));
  at.graphs.remove(all[0]);
  take_result(100, 1000);
  for (std::size_t i = 0; i < 15; ++i) {
    const std::size_t which = i * 7 % 20;
    const auto part = static_cast<std::uint32_t>(which == 7 ? 300 : which == 14 ? 90 : 100 + which);
    EXPECT_EQ(all[which].results, std::vector<std::uint32_t>{part}) << which;
  }
  for (std::size_t i = 15; i < 20; ++i) EXPECT_TRUE(all[i * 7 % 20].results.empty()) << "its parts are not there yet";
  for (asked_graph& one : all) at.graphs.remove(one);
}

}  // namespace graph_parts_test
