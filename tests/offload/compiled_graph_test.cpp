// Replays of recorded graphs: several at once, their failures, how they are stopped, and their end.
#include "ham/offload/compiled_graph.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload/graph.hpp"
#include "offload/graph_functions.hpp"

using namespace ham;
using namespace ham::test;

namespace compiled_graph_test {

using namespace graph_functions;

std::string join(const std::string& left, const std::string& right) { return left + right; }
int refuse_negative(int value) {
  if (value < 0) throw std::out_of_range("negative");
  return value;
}
bool never(int /*unused*/) { return false; }

class compiled_graphs : public graph_nodes {};

// ---- several at once

TEST_F(compiled_graphs, replays_are_in_flight_together_up_to_the_limit) {
  offload::graph g;
  auto step = g.compile(g.call(1, pooled(fn<&wait_for_gate>), g.input<int>()), {.in_flight = 3});
  std::vector<offload::future<int>> running;
  for (int i = 0; i < 3; ++i) running.push_back(step(i));
  EXPECT_TRUE(eventually([] { return behind_gate >= 1; }));
  EXPECT_EQ(step.in_flight(), 3U);
  EXPECT_FALSE(step.try_start(4).has_value());
  std::thread opens([] {
    std::this_thread::sleep_for(20ms);
    gate = true;
  });
  EXPECT_EQ(step(5).get(), 5);  // had to wait
  for (int i = 0; i < 3; ++i) EXPECT_EQ(running[static_cast<std::size_t>(i)].get(), i);
  opens.join();
}

TEST_F(compiled_graphs, many_replays_in_flight_keep_their_values_apart) {
  offload::graph g;
  auto in = g.input<int>();
  auto a = g.call(1, fn<&twice>, in);
  auto b = g.call(2, fn<&add>, a, in);
  auto step = g.compile(g.call(1, fn<&add>, a, b), {.in_flight = 5});
  std::vector<offload::future<int>> running;
  for (int i = 0; i < 500; ++i) running.push_back(step(i));
  for (int i = 0; i < 500; ++i) EXPECT_EQ(running[static_cast<std::size_t>(i)].get(), 5 * i) << i;
}

TEST_F(compiled_graphs, several_threads_replay_one_graph) {
  offload::graph g;
  auto in = g.input<int>();
  auto step = g.compile(g.call(2, fn<&add>, g.call(1, fn<&twice>, in), 1), {.in_flight = 2});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) wrong += step(1000 * t + i).get() != 2 * (1000 * t + i) + 1 ? 1 : 0;
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(compiled_graphs, targets_replay_graphs_of_their_own) {
  const auto on_target = [](int value) {
    offload::graph g;
    auto step = g.compile(g.call(2, fn<&add>, g.call(0, fn<&twice>, g.input<int>()), 1));
    return step(value).get();
  };
  EXPECT_EQ(offload::sync(1, on_target, 20), 41);
}

TEST_F(compiled_graphs, the_destructor_waits_for_replays) {
  offload::future<int> late;
  {
    offload::graph g;
    auto step = g.compile(g.call(1, pooled(fn<&wait_for_gate>), 6));
    late = step();
    std::thread([] {
      std::this_thread::sleep_for(10ms);
      gate = true;
    }).detach();
  }
  EXPECT_TRUE(gate);
  EXPECT_EQ(late.get(), 6);
}

// ---- failure

TEST_F(compiled_graphs, a_failure_names_its_stage) {
  offload::graph g;
  auto in = g.input<int>();
  auto checked = g.call(2, fn<&refuse_negative>, g.call(1, fn<&twice>, in)).name("check");
  auto step = g.compile(g.call(1, fn<&count_call>, checked));
  EXPECT_EQ(step(2).get(), 4);
  for (int i = 0; i < 20; ++i) {
    try {
      static_cast<void>(step(-1).get());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const stage_error& failed) {
      EXPECT_EQ(failed.stage(), checked.number());
      EXPECT_EQ(failed.name(), "check");
      EXPECT_EQ(failed.node(), 2);
      EXPECT_NE(std::string(failed.what()).find("negative"), std::string::npos) << failed.what();
      EXPECT_THROW(std::rethrow_exception(failed.cause()), std::out_of_range);
    }
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(step(3).get(), 6);
}

TEST_F(compiled_graphs, a_failing_stage_of_the_own_node_and_a_pooled_one_are_told_as_well) {
  offload::graph g;
  auto in = g.input<int>();
  auto step = g.compile(g.call(0, fn<&refuse_negative>, g.call(1, pooled(fn<&refuse_negative>), in)));
  EXPECT_THROW(static_cast<void>(step(-1).get()), stage_error);
  EXPECT_EQ(step(1).get(), 1);
  auto own = g.compile(g.call(0, fn<&refuse_negative>, in));
  EXPECT_THROW(static_cast<void>(own(-1).get()), stage_error);
  EXPECT_EQ(own(1).get(), 1);
}

TEST_F(compiled_graphs, a_transfer_that_fails_is_told) {
  double value = 1;
  const offload::buffer_ptr<double> stale = offload::allocate<double>(1, 1);
  offload::free(stale);
  offload::graph g;
  auto step = g.compile(g.put(&value, stale, 1));
  try {
    step().get();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const stage_error& failed) {
    EXPECT_EQ(failed.name(), "put");
    EXPECT_THROW(std::rethrow_exception(failed.cause()), buffer_error);
  }
}

// ---- stopping

TEST_F(compiled_graphs, a_replay_that_is_stopped_begins_no_further_stage) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&count_call>, g.call(2, pooled(fn<&wait_for_gate>), 1)));
  auto running = step();
  EXPECT_TRUE(eventually([] { return behind_gate == 1; }));
  EXPECT_TRUE(running.request_stop());
  EXPECT_THROW(static_cast<void>(running.get()), operation_cancelled);
  for (const node_t node : {1, 2}) offload::sync(node, [] {});  // they have been told: messages keep their order
  gate = true;
  EXPECT_EQ(step().get(), 1);
  EXPECT_EQ(calls, 1);
}

TEST_F(compiled_graphs, a_repeat_without_end_is_stopped) {
  offload::graph g;
  auto in = g.input<int>();
  auto last = g.repeat(
      in, [&](offload::graph_value<int> value) { return g.call(2, fn<&add>, g.call(1, fn<&count_call>, value), 1); },
      fn<&never>);
  auto step = g.compile(last, {.in_flight = 1});
  for (int i = 0; i < 5; ++i) {
    EXPECT_THROW(static_cast<void>(step.within(20ms)(0).get()), deadline_exceeded);
    std::stop_source source;
    auto running = step.stoppable(source.get_token())(0);
    EXPECT_FALSE(running.wait_for(5ms));
    source.request_stop();
    EXPECT_THROW(static_cast<void>(running.get()), operation_cancelled);
  }
  // It has stopped there, too: nothing is called any more.
  EXPECT_TRUE(eventually([] {
    const int before = calls;
    std::this_thread::sleep_for(20ms);
    return calls == before;
  }));
}

TEST_F(compiled_graphs, a_token_that_was_stopped_before_keeps_a_replay_from_beginning) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&count_call>, 1));
  std::stop_source source;
  source.request_stop();
  auto running = step.within(10s, source.get_token())();
  try {
    static_cast<void>(running.get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const operation_cancelled& stopped) {
    EXPECT_EQ(stopped.outcome(), call_outcome::not_run);
  }
  EXPECT_EQ(calls, 0);
}

/// On a target. 1: the replay was stopped with this call, and the next one does not begin.
int replay_until_stopped() {
  offload::graph g;
  auto step = g.compile(g.call(2, pooled(fn<&wait_for_gate>), 6));
  auto running = step();
  if (!running.wait_for(20s)) gate = true;  // it waits for ever otherwise
  try {
    return running.get();
  } catch (const operation_cancelled& stopped) {
    if (stopped.outcome() != call_outcome::may_have_run) return 2;
  }
  try {
    return step().get();
  } catch (const operation_cancelled& again) {
    return again.outcome() == call_outcome::not_run ? 1 : 3;
  }
}

TEST_F(compiled_graphs, a_replay_is_stopped_with_the_function_that_has_started_it) {
  auto outer = offload::async(offload::stoppable(1), fn<&replay_until_stopped>);
  EXPECT_TRUE(eventually([] { return behind_gate == 1; }));
  EXPECT_TRUE(outer.request_stop());
  EXPECT_EQ(outer.get(), 1);
  gate = true;
}

/// Opens the gate after a long time: what waits in vain fails then, and does not hang.
class late_opening {
 public:
  ~late_opening() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_{[this] {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (!done_ && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    if (!done_) gate = true;
  }};
};

TEST_F(compiled_graphs, a_token_ends_the_wait_for_room) {
  const late_opening at_the_latest;
  offload::graph g;
  auto step = g.compile(g.call(1, pooled(fn<&wait_for_gate>), 1), {.in_flight = 1});
  auto first = step();
  std::stop_source source;
  std::thread stops([&] {
    std::this_thread::sleep_for(20ms);
    source.request_stop();
  });
  for (int i = 0; i < 2; ++i) {  // the second one does not wait
    try {
      static_cast<void>(step.stoppable(source.get_token())().get());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const operation_cancelled& stopped) {
      EXPECT_EQ(stopped.outcome(), call_outcome::not_run);
    }
  }
  stops.join();
  EXPECT_EQ(step.in_flight(), 1U);
  gate = true;
  EXPECT_EQ(first.get(), 1);
  EXPECT_EQ(behind_gate, 1);
}

/// On a target. 1: its second replay has not begun when this call was stopped. The first one goes on.
int wait_for_room_until_stopped() {
  offload::graph g;
  auto step = g.compile(g.call(2, pooled(fn<&wait_for_gate>), 6), {.in_flight = 1});
  offload::future<int> first;
  {
    const this_call::shield stays;
    first = step();
  }
  int result = 0;
  try {
    result = 10 + step().get();
  } catch (const operation_cancelled& stopped) {
    result = stopped.outcome() == call_outcome::not_run ? 1 : 2;
  }
  gate = true;
  return first.get() == 6 ? result : 3;
}

TEST_F(compiled_graphs, the_wait_for_room_ends_with_the_function_that_is_stopped) {
  const late_opening at_the_latest;
  auto outer = offload::async(offload::stoppable(1), fn<&wait_for_room_until_stopped>);
  EXPECT_TRUE(eventually([] { return behind_gate == 1; }));
  std::this_thread::sleep_for(10ms);  // it waits for room by now, or will find that it is stopped
  EXPECT_TRUE(outer.request_stop());
  EXPECT_EQ(outer.get(), 1);
}

TEST_F(compiled_graphs, a_deadline_bounds_the_wait_for_room) {
  offload::graph g;
  auto step = g.compile(g.call(1, pooled(fn<&wait_for_gate>), 1), {.in_flight = 1});
  auto first = step();
  try {
    static_cast<void>(step.within(20ms)().get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const deadline_exceeded& late) {
    EXPECT_EQ(late.outcome(), call_outcome::not_run);
  }
  gate = true;
  EXPECT_EQ(first.get(), 1);
}

// ---- the end

TEST(compiled_graph, replays_end_with_their_runtime) {
  gate = false;
  behind_gate = 0;
  std::optional<offload::compiled_graph<int>> step;
  offload::future<int> pending;
  {
    runtime job{loopback(2)};
    offload::graph g;
    step.emplace(g.compile(g.call(1, pooled(fn<&wait_for_gate>), 1)));
    pending = (*step)();
    EXPECT_TRUE(eventually([] { return behind_gate == 1; }));
    gate = true;
  }
  EXPECT_TRUE(pending.test());
  static_cast<void>(pending.error());
  EXPECT_THROW(static_cast<void>((*step)()), config_error);
}

TEST(compiled_graph, is_recorded_without_a_runtime_and_compiled_with_one) {
  offload::graph g;
  auto result = g.call(1, fn<&twice>, 21);
  EXPECT_THROW(static_cast<void>(g.compile(result)), config_error);
  runtime job{loopback(1)};
  EXPECT_EQ(g.compile(result)().get(), 42);
}

TEST_F(compiled_graphs, a_limit_of_nothing_is_refused) {
  offload::graph g;
  auto result = g.call(1, fn<&twice>, 21);
  EXPECT_THROW(static_cast<void>(g.compile(result, {.in_flight = 0})), config_error);
}

}  // namespace compiled_graph_test
