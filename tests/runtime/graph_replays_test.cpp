// Replays in flight: each settles once, whatever comes first.
#include "runtime/graph_replays.hpp"

#include <ham/offload/graph.hpp>

#include <array>

#include "offload/loopback_job.hpp"

namespace graph_replays_test {

/// Runs `meanwhile` while it is encoded, which then fails.
struct not_to_be_sent {
  void (*meanwhile)();
};

}  // namespace graph_replays_test

template <>
struct ham::codec<graph_replays_test::not_to_be_sent> {
  static std::size_t size(const graph_replays_test::not_to_be_sent&) { return 1; }
  static void write(ham::msg::writer&, const graph_replays_test::not_to_be_sent& what) {
    what.meanwhile();
    throw std::runtime_error("not to be sent");
  }
  static graph_replays_test::not_to_be_sent read(ham::msg::reader&) { return {}; }
};

namespace graph_replays_test {

using namespace ham;
using namespace ham::test;
using ham::offload::detail::current;

std::atomic<bool> gate{false};
int behind_gate(int value) {
  while (!gate) std::this_thread::sleep_for(100us);
  return value;
}
int echo(int value) { return value; }
std::string repeated(std::size_t size) { return std::string(size, 'a'); }

class graph_replays : public two_targets {
 protected:
  graph_replays() { gate = false; }
};

TEST_F(graph_replays, a_result_that_comes_after_the_end_is_dropped) {
  offload::graph g;
  auto step = g.compile(g.call(1, pooled(fn<&behind_gate>), g.input<int>()), {.in_flight = 2});
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
  gate = true;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(step(i).get(), i);
}

TEST_F(graph_replays, a_loss_fails_those_of_graphs_that_have_the_node_only) {
  offload::graph g;
  auto in = g.input<int>();
  auto with = g.compile(g.call(2, pooled(fn<&behind_gate>), in));
  offload::graph other;
  auto beside = other.compile(other.call(1, pooled(fn<&behind_gate>), other.input<int>()));
  auto lost = with(1);
  auto kept = beside(2);
  current().part_with(2, "for a test");
  try {
    static_cast<void>(lost.get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), 2);
    EXPECT_NE(failure.function().find("behind_gate"), std::string::npos) << failure.function();
  }
  EXPECT_THROW(static_cast<void>(with(3)), node_failure);
  gate = true;
  EXPECT_EQ(kept.get(), 2);
}

/// What a node could send as the result of a replay of this one.
void take_result(node_t from, std::uint64_t part, std::uint32_t replay, std::span<const std::byte> value) {
  auto& at = current();
  at.locked([&] { at.graphs.take_result(from, part, replay, value); });
}

TEST_F(graph_replays, a_result_counts_once_if_it_is_of_this_replay_and_from_its_node) {
  offload::graph g;
  auto step = g.compile(g.call(1, pooled(fn<&behind_gate>), g.input<int>()), {.in_flight = 2});
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
  gate = true;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(step(i).get(), i);
}

std::uint64_t never_called(not_to_be_sent) { return 0; }

/// Its storage is taken for an error otherwise, at an address that the node has chosen.
TEST_F(graph_replays, a_result_does_not_come_before_the_replay_is_sent) {
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

int sum_of(int a, int b) { return a + b; }

TEST_F(graph_replays, inputs_go_to_whom_they_are_for) {
  offload::graph g;
  auto a = g.input<int>();
  auto unused = g.input<std::string>();
  auto b = g.input<int>();
  static_cast<void>(unused);
  auto step = g.compile(g.call(2, fn<&sum_of>, b, g.call(1, fn<&sum_of>, b, a)));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(step(i, std::string(static_cast<std::size_t>(i), 'x'), 100).get(), i + 200);
}

TEST_F(graph_replays, long_results_come_as_short_ones_do) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&repeated>, g.input<std::size_t>()));
  for (const std::size_t size : {std::size_t{0}, std::size_t{40}, std::size_t{10'000}, std::size_t{3'000'000}})
    EXPECT_EQ(step(size).get(), std::string(size, 'a'));
}

int wait_if_negative(int value) { return value < 0 ? behind_gate(value) : value; }

TEST_F(graph_replays, a_long_one_holds_up_no_others) {
  offload::graph g;
  auto step = g.compile(g.call(1, pooled(fn<&wait_if_negative>), g.input<int>()), {.in_flight = 4});
  struct opens_gate {
    ~opens_gate() { gate = true; }
  } const at_the_end;
  auto slow = step(-1);
  for (int i = 0; i < 20; ++i) {
    auto next = step.try_start(i);
    ASSERT_TRUE(next.has_value()) << i;
    EXPECT_EQ(next->get(), i);
  }
  EXPECT_EQ(step.in_flight(), 1U);
  gate = true;
  EXPECT_EQ(slow.get(), -1);
}

std::size_t length_of(const std::string& text) { return text.size(); }

TEST_F(graph_replays, inputs_whose_sizes_cannot_be_told_are_refused) {
  using namespace offload::detail;
  const auto graph = make_graph_recording();
  const std::uint32_t in = record_input(*graph, typeid(std::string));
  auto& function = call_of<std::decay_t<decltype(fn<&length_of>)>, std::string>::message::entry();
  const std::uint32_t stage = record_call(*graph, 1, function, {{in, {}}});
  const auto step = compile_graph(*graph, stage, {&slot_value<std::size_t>::decode, 1, {}});
  const std::size_t sizes[] = {std::size_t{1} << 32U};
  EXPECT_THROW(static_cast<void>(enter_replay(*step, {}, sizes)), call_error);
  EXPECT_EQ(replays_in_flight(*step), 0U);
  EXPECT_EQ(start_replay<std::size_t>(*step, {}, std::string("abc")).get(), 3U);
  close_graph(*step);
}

TEST_F(graph_replays, detached_replays_end_by_themselves) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&echo>, g.input<int>()), {.in_flight = 1});
  for (int i = 0; i < 50; ++i) step(i).detach();
  EXPECT_EQ(step(7).get(), 7);
}

}  // namespace graph_replays_test
