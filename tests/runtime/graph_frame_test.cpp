// Functions that run as stages are told of the stop of their replay, and what they call is stopped with them.
#include "runtime/graph_frame.hpp"

#include <atomic>
#include <stop_token>
#include <string>

#include "ham/offload/graph.hpp"
#include "offload/loopback_job.hpp"

namespace graph_frame_test {

using namespace ham;
using namespace ham::test;

std::atomic<int> running{0};
std::atomic<int> told{0};
std::atomic<int> not_told{0};
std::atomic<bool> opened{false};

/// Polls for a stop, until a gate is opened at the latest.
int poll(int value) {
  ++running;
  const auto stop = this_call::stop_token();
  while (!stop.stop_requested() && !opened.load()) std::this_thread::yield();
  ++(stop.stop_requested() ? told : not_told);
  return value;
}
int pass(int value) { return value; }
bool has_deadline() { return this_call::deadline() != std::chrono::steady_clock::time_point::max(); }
int deadlines(int before) { return 2 * before + (has_deadline() ? 1 : 0); }

/// The end of the call that it has made, as a number.
int call_node_2(int value) {
  try {
    return offload::sync(2, fn<&poll>, value);
  } catch (const operation_cancelled&) {
    ++told;
    throw;
  }
}
bool never(int /*unused*/) { return false; }

class graph_frame : public two_targets {
 protected:
  graph_frame() {
    running = told = not_told = 0;
    opened = false;
  }
  ~graph_frame() override { opened = true; }

  /// A stage on node 1 that polls, perhaps behind one of node 2, which delivers to it.
  static offload::compiled_graph<int> polling(bool behind_another = false, bool in_pool = false) {
    offload::graph g;
    const auto in = g.input<int>();
    const auto first = behind_another ? g.call(2, fn<&pass>, in) : g.call(1, fn<&pass>, in);
    const auto last = in_pool ? g.call(1, pooled(fn<&poll>), first) : g.call(1, fn<&poll>, first);
    return g.compile(last);
  }
  /// The stage runs, and stops once `stop` was called.
  template <class Stop>
  static void expect_told(offload::future<int>& replay, Stop stop, int ends = 1) {
    ASSERT_TRUE(eventually([] { return running.load() != 0; }));
    stop();
    EXPECT_THROW(replay.get(), operation_cancelled);
    EXPECT_TRUE(eventually([ends] { return told.load() == ends; })) << "of " << told.load();
    EXPECT_EQ(not_told.load(), 0);
  }
};

TEST_F(graph_frame, a_stop_of_the_future_is_seen_by_the_stage_that_runs) {
  auto step = polling();
  auto replay = step.stoppable()(1);
  expect_told(replay, [&] { EXPECT_TRUE(replay.request_stop()); });
  EXPECT_EQ(offload::sync(1, fn<&pass>, 3), 3) << "the node goes on";
}

TEST_F(graph_frame, so_is_one_that_another_node_has_delivered_to) {
  auto step = polling(true);
  std::stop_source source;
  auto replay = step.stoppable(source.get_token())(1);
  expect_told(replay, [&] { source.request_stop(); });
}

TEST_F(graph_frame, so_is_one_that_a_pool_executes) {
  auto step = polling(true, true);
  auto replay = step.stoppable()(1);
  expect_told(replay, [&] { replay.request_stop(); });
}

TEST_F(graph_frame, a_deadline_that_passes_is_seen_as_well) {
  auto step = polling(true);
  for (auto time = 20ms; running.load() == 0 && time < 30s; time *= 2) {  // it may not have begun
    try {
      EXPECT_EQ(step.within(time)(1).get(), 1) << "the function has seen it, and answered, before this node has";
    } catch (const deadline_exceeded&) {
    }
  }
  EXPECT_GT(running.load(), 0);
  EXPECT_TRUE(eventually([] { return told.load() == running.load(); }));
  EXPECT_EQ(not_told.load(), 0);
}

TEST_F(graph_frame, stages_of_the_node_that_replays_it_see_it) {
  offload::graph g;
  auto step = g.compile(g.call(0, fn<&poll>, g.call(1, fn<&pass>, g.input<int>())));
  std::stop_source source;
  std::thread other([&] {
    EXPECT_TRUE(eventually([] { return running.load() != 0; }));
    source.request_stop();
  });
  auto replay = step.stoppable(source.get_token())(1);
  EXPECT_THROW(replay.get(), operation_cancelled);
  other.join();
  EXPECT_EQ(told.load(), 1);
}

TEST_F(graph_frame, what_a_stage_calls_is_stopped_with_it) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&call_node_2>, g.input<int>()));
  auto replay = step.stoppable()(1);
  expect_told(
      replay, [&] { replay.request_stop(); }, 2);
}

TEST_F(graph_frame, nodes_know_how_much_time_a_replay_has) {
  offload::graph g;
  auto step =
      g.compile(g.call(2, fn<&deadlines>, g.call(1, fn<&deadlines>, g.call(0, fn<&deadlines>, g.input<int>()))));
  EXPECT_EQ(step.within(1h)(0).get(), 7);
  EXPECT_EQ(step.stoppable()(0).get(), 0);
  EXPECT_EQ(step(0).get(), 0) << "of the replays before nothing is left";
}

TEST_F(graph_frame, a_replay_that_nobody_may_stop_tells_nobody) {
  auto step = polling();
  auto replay = step(1);
  ASSERT_TRUE(eventually([] { return running.load() != 0; }));
  EXPECT_TRUE(replay.request_stop());
  EXPECT_THROW(replay.get(), operation_cancelled);
  opened = true;
  EXPECT_TRUE(eventually([] { return not_told.load() == 1; }));
  EXPECT_EQ(told.load(), 0);
}

TEST_F(graph_frame, a_replay_of_a_function_that_is_stopped_is_stopped_with_it) {
  static offload::compiled_graph<int>* shared = nullptr;
  offload::graph g;
  auto step = g.compile(g.call(2, fn<&poll>, g.call(1, fn<&pass>, g.input<int>())));
  shared = &step;
  std::stop_source source;
  auto outer = offload::async(offload::stoppable(0, source.get_token()), [] { return (*shared)(1).get(); });
  std::thread other([&] {
    EXPECT_TRUE(eventually([] { return running.load() != 0; }));
    source.request_stop();
  });
  EXPECT_THROW(outer.get(), operation_cancelled);
  other.join();
  EXPECT_TRUE(eventually([] { return told.load() == 1; }));
}

TEST_F(graph_frame, calls_after_it_are_not_taken_for_ones_that_can_be_stopped) {
  auto step = polling();
  auto replay = step.stoppable()(1);
  expect_told(replay, [&] { replay.request_stop(); });
  EXPECT_FALSE(offload::sync(1, [] { return this_call::stop_token().stop_possible(); }));
  opened = true;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(step(i).get(), i);
}

TEST_F(graph_frame, a_failed_stage_tells_the_others) {
  offload::graph g;
  const auto in = g.input<int>();
  const auto polls = g.call(1, fn<&poll>, in);
  const auto fails = g.call(
      2,
      [](int value) {
        EXPECT_TRUE(eventually([] { return running.load() != 0; }));
        if (value != 0) throw std::runtime_error("as asked");
        return value;
      },
      in);
  auto step = g.compile(g.call(
      2, [](int a, int b) { return a + b; }, polls, fails));
  EXPECT_THROW(step.within(1h)(1).get(), stage_error);
  EXPECT_TRUE(eventually([] { return told.load() == 1; }));
}

}  // namespace graph_frame_test
