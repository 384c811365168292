// Replays that begin: inputs, waiting for one another.
#include "runtime/graph_replays.hpp"

#include <ham/offload/graph.hpp>

#include <atomic>
#include <functional>

#include "offload/gate.hpp"
#include "offload/loopback_job.hpp"

namespace graph_replays_test {

using namespace ham;
using namespace ham::test;

int echo(int value) { return value; }
std::string repeated(std::size_t size) { return std::string(size, 'a'); }

using graph_replays = two_targets;

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

int wait_if_negative(int value) { return value < 0 ? held(value) : value; }

TEST_F(graph_replays, a_long_one_holds_up_no_others) {
  offload::graph g;
  auto step = g.compile(g.call(1, pooled(fn<&wait_if_negative>), g.input<int>()), {.in_flight = 4});
  closed_gate gate;
  auto slow = step(-1);
  for (int i = 0; i < 20; ++i) {
    auto next = step.try_start(i);
    ASSERT_TRUE(next.has_value()) << i;
    EXPECT_EQ(next->get(), i);
  }
  EXPECT_EQ(step.in_flight(), 1U);
  gate.open();
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

std::function<void()> meanwhile;
void act_meanwhile() { meanwhile(); }
void have_host_act() { offload::sync(0, fn<&act_meanwhile>); }
std::atomic<bool> is_held{false};
void hold_queue() {
  is_held = true;
  hold();
}

/// The one that this thread sends goes on when the call that waits for room behind it has returned.
TEST_F(graph_replays, one_behind_another_that_this_very_thread_sends_is_refused) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&echo>, g.input<int>()), {.in_flight = 1});
  closed_gate gate;
  is_held = false;
  auto holds = offload::async(1, fn<&hold_queue>);
  ASSERT_TRUE(eventually([] { return is_held.load(); }));
  while (auto one = offload::try_async(1, fn<&echo>, 1)) one->detach();
  int runs = 0;
  meanwhile = [&] {
    ++runs;
    EXPECT_NE(message_of<call_error>([&] { step.within(10s)(2).detach(); }).find("in_flight"), std::string::npos);
    gate.open();
  };
  auto calls_back = offload::async(2, fn<&have_host_act>);
  EXPECT_EQ(step(1).get(), 1);
  calls_back.get();
  holds.get();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(step(3).get(), 3);
}

}  // namespace graph_replays_test
