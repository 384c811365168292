// Replays in flight: each settles once, whatever comes first.
#include <ham/offload/graph.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "offload/gate.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"
#include "runtime/graph_replays.hpp"

namespace graph_settling_test {

/// Runs `meanwhile` while it is encoded, which then fails.
struct not_to_be_sent {
  void (*meanwhile)();
};

}  // namespace graph_settling_test

template <>
struct ham::codec<graph_settling_test::not_to_be_sent> {
  static std::size_t size(const graph_settling_test::not_to_be_sent&) { return 1; }
  static void write(ham::msg::writer&, const graph_settling_test::not_to_be_sent& what) {
    what.meanwhile();
    throw std::runtime_error("not to be sent");
  }
  static graph_settling_test::not_to_be_sent read(ham::msg::reader&) { return {}; }
};

namespace graph_settling_test {

using namespace ham;
using namespace ham::test;
using ham::offload::detail::current;

class graph_settling : public two_targets {
 protected:
  closed_gate gate_;
};

TEST_F(graph_settling, a_result_that_comes_after_the_end_is_dropped) {
  offload::graph g;
  auto step = g.compile(g.call(1, pooled(fn<&held>), g.input<int>()), {.in_flight = 2});
  for (int i = 0; i < 20; ++i) {
    auto running = step(i);
    std::atomic<int> settled{0};
    running.on_ready([&] { ++settled; });
    EXPECT_TRUE(running.request_stop());
    EXPECT_FALSE(running.request_stop());
    EXPECT_FALSE(running.has_value());
    EXPECT_EQ(settled, 1);
    EXPECT_EQ(step.in_flight(), 0U);
  }
  gate_.open();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(step(i).get(), i);
}

TEST_F(graph_settling, a_loss_fails_those_of_graphs_that_have_the_node_only) {
  offload::graph g;
  auto in = g.input<int>();
  auto with = g.compile(g.call(2, pooled(fn<&held>), in));
  offload::graph other;
  auto beside = other.compile(other.call(1, pooled(fn<&held>), other.input<int>()));
  auto lost = with(1);
  auto kept = beside(2);
  current().part_with(2, "for a test");
  try {
    static_cast<void>(lost.get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), 2);
    EXPECT_NE(failure.function().find("held"), std::string::npos) << failure.function();
  }
  EXPECT_THROW(static_cast<void>(with(3)), node_failure);
  gate_.open();
  EXPECT_EQ(kept.get(), 2);
}

/// What a node could send as the result of a replay of this one.
void take_result(node_t from, std::uint64_t part, std::uint32_t replay, std::span<const std::byte> value) {
  auto& at = current();
  at.locked([&] { at.graphs.take_result(from, part, replay, value); });
}

TEST_F(graph_settling, a_result_counts_once_if_it_is_of_this_replay_and_from_its_node) {
  offload::graph g;
  auto step = g.compile(g.call(1, pooled(fn<&held>), g.input<int>()), {.in_flight = 2});
  const std::uint64_t part = current().graphs.reserve() - 1;
  const std::array<std::byte, sizeof(int)> seven{std::byte{7}};
  auto running = step(5);
  take_result(2, part, 1, seven);
  take_result(1, part + 1, 1, seven);
  take_result(1, part, 2, seven);
  take_result(1, part, 0, seven);
  EXPECT_EQ(step.in_flight(), 1U);
  take_result(1, part, 1, seven);
  take_result(1, part, 1, seven);
  EXPECT_EQ(step.in_flight(), 0U);
  EXPECT_EQ(running.get(), 7);
  auto unreadable = step(6);
  take_result(1, part, 2, {});
  take_result(1, part, 2, seven);
  EXPECT_THROW(static_cast<void>(unreadable.get()), std::exception);
  gate_.open();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(step(i).get(), i);
}

std::uint64_t never_called(not_to_be_sent) { return 0; }

/// Its storage is taken for an error otherwise, at an address that the node has chosen.
TEST_F(graph_settling, a_result_does_not_come_before_the_replay_is_sent) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&never_called>, g.input<not_to_be_sent>()), {.in_flight = 1});
  static std::uint64_t part = 0;
  part = current().graphs.reserve() - 1;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(static_cast<void>(step(not_to_be_sent{[] {
                   std::array<std::byte, sizeof(std::uint64_t)> value;
                   value.fill(std::byte{0x41});
                   for (std::uint32_t replay = 1; replay < 4; ++replay) take_result(1, part, replay, value);
                 }})),
                 std::runtime_error);
    EXPECT_EQ(step.in_flight(), 0U);
  }
}

}  // namespace graph_settling_test
