// Recorded graphs over processes: a node that dies at each stage, several replays in flight, nodes that come back.
// link: ham::ham
// timeout: 300
#include "tcp_server.hpp"

#include <atomic>
#include <csignal>
#include <memory>
#include <optional>

#include <ham/offload/graph.hpp>

using namespace ham;
using namespace ham::test;

namespace {

/// Adds one, unless it is told to end the process.
int pass(int value, int stage, int victim) {
  if (stage == victim) ::raise(SIGKILL);
  return value + 1;
}
int twice(int value) { return static_cast<int>(2U * static_cast<unsigned>(value)); }  // also in an endless repeat
bool is_large(int value) { return value >= 1000; }
bool never(int /*unused*/) { return false; }
double first_of(offload::buffer_ptr<double> values) { return values[0]; }
void wait_for(offload::buffer_ptr<int> gate) {
  while (__atomic_load_n(gate.get(), __ATOMIC_ACQUIRE) == 0) std::this_thread::sleep_for(1ms);
}

constexpr int no_victim = -1;
const offload::supervision often{.max_restarts = 1'000'000, .within = 1min, .on_respawn = {}};

/// Stage i runs on the i-th of these nodes.
struct chain {
  explicit chain(const std::vector<node_t>& nodes, std::size_t in_flight = 8) {
    offload::graph g;
    auto in = g.input<int>();
    auto victim = g.input<int>();
    auto at = g.call(nodes[0], fn<&pass>, in, 0, victim).name("first");
    for (std::size_t i = 1; i < nodes.size(); ++i)
      at = g.call(nodes[i], fn<&pass>, at, static_cast<int>(i), victim).name("next " + std::to_string(i));
    step = std::make_unique<offload::compiled_graph<int>>(g.compile(at, {.in_flight = in_flight}));
  }
  std::unique_ptr<offload::compiled_graph<int>> step;
};

TEST(graph, results_go_from_process_to_process) {
  runtime rt(nodes("shm:3"));
  chain over({1, 2, 3});
  for (int i = 0; i < 1000; ++i) ASSERT_EQ((*over.step)(i, no_victim).get(), i + 3);
}

std::atomic<int> told{0};
/// Polls until it is stopped, or a gate is opened.
int poll_for_stop(int value, offload::buffer_ptr<int> gate) {
  __atomic_store_n((gate + 1).get(), 1, __ATOMIC_RELEASE);
  const auto stop = this_call::stop_token();
  while (!stop.stop_requested() && __atomic_load_n(gate.get(), __ATOMIC_ACQUIRE) == 0) {
  }
  if (stop.stop_requested()) ++told;
  return value;
}
int told_here() { return told.load(); }

/// A stop, and a deadline, of a replay are seen by the function that runs, on the node that the replay starts on and
/// behind another one.
TEST(graph, functions_of_stages_see_a_stop) {
  runtime rt(nodes("shm:2"));
  for (const node_t before : {1, 2}) {
    offload::buffer<int> gate(1, 2);
    const std::vector<int> shut{0, 0};
    offload::graph g;
    const auto first = g.call(before, fn<&pass>, g.input<int>(), 0, no_victim);
    auto step = g.compile(g.call(1, fn<&poll_for_stop>, first, gate.ptr()));
    const int already = offload::sync(1, fn<&told_here>);

    offload::put_sync(shut.data(), gate.ptr(), 2);
    auto stopped = step.stoppable()(1);
    std::vector<int> now{0, 0};
    while (now[1] == 0) offload::get_sync(gate.ptr(), now.data(), 2);
    EXPECT_TRUE(stopped.request_stop());
    EXPECT_THROW(stopped.get(), operation_cancelled);
    EXPECT_EQ(offload::sync(1, fn<&told_here>), already + 1);

    offload::put_sync(shut.data(), gate.ptr(), 2);
    try {
      EXPECT_EQ(step.within(50ms)(1).get(), 2) << "the function has seen it, and answered, before this node has";
    } catch (const deadline_exceeded&) {
    }
    const int in_all = offload::sync(1, fn<&told_here>);
    offload::get_sync(gate.ptr(), now.data(), 2);
    EXPECT_EQ(in_all, already + (now[1] != 0 ? 2 : 1)) << "or it has not begun";
  }
}

TEST(graph, death_at_each_stage_settles_the_replay_once_and_leaves_the_graph_usable) {
  runtime rt(nodes("shm:3"));
  for (node_t node = 1; node <= 3; ++node) offload::supervise(node, often);
  chain over({1, 2, 3});
  const int deaths = rounds(12);
  for (int round = 0; round < deaths; ++round) {
    const int victim = round % 3;
    std::atomic<int> settled{0};
    auto doomed = (*over.step)(5, victim);
    doomed.on_ready([&settled] { ++settled; });
    try {
      static_cast<void>(doomed.get());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const node_failure& loss) {
      EXPECT_NE(loss.function().find("stage " + std::to_string(victim + 2)), std::string::npos) << loss.what();
      EXPECT_EQ(loss.outcome(), call_outcome::may_have_run);
    }
    EXPECT_EQ((*over.step)(5, no_victim).get(), 8);  // waits for the new process
    EXPECT_EQ(settled, 1);
  }
  EXPECT_EQ(over.step->in_flight(), 0U);
}

/// The graph asks for the process of node 2, then waits for that of node 1; before it has that, node 2 dies.
TEST(graph, a_node_may_die_while_the_next_process_of_another_one_is_awaited) {
  runtime rt(nodes("shm:2"));
  chain over({2, 1});
  offload::supervision how = often;
  how.on_respawn = [](const offload::respawned&) {
    std::this_thread::sleep_for(100ms);  // for the replay below to begin to wait
    auto doomed = offload::async(2, [] { ::raise(SIGKILL); });
    EXPECT_FALSE(doomed.has_value());
  };
  offload::supervise(1, how);
  offload::supervise(2, often);
  auto doomed = offload::async(1, [] { ::raise(SIGKILL); });
  EXPECT_FALSE(doomed.has_value());
  EXPECT_EQ((*over.step)(5, no_victim).get(), 7);
}

TEST(graph, a_replay_waits_for_a_busy_node_until_its_deadline_when_another_one_was_started_again) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1, often);
  chain over({1, 2});
  auto doomed = offload::async(1, [] { ::raise(SIGKILL); });
  EXPECT_FALSE(doomed.has_value());
  const offload::buffer<int> gate(2, 1);
  const int closed = 0, open = 1;
  offload::put_sync(&closed, gate.ptr(), 1);
  auto busy = offload::async(2, fn<&wait_for>, gate.ptr());
  offload::sync(1, [] {});  // it was started again: nothing but node 2 is waited for
  auto late = over.step->within(200ms)(5, no_victim);
  try {
    late.get();
    ADD_FAILURE() << "node 2 has its part too early";
  } catch (const deadline_exceeded& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run);
  }
  EXPECT_FALSE(busy.test());
  offload::put_sync(&open, gate.ptr(), 1);
  busy.get();
  EXPECT_EQ((*over.step)(5, no_victim).get(), 7);
}

TEST(graph, all_replays_in_flight_fail_with_the_node) {
  runtime rt(nodes("shm:2"));
  offload::supervise(2, often);
  chain over({1, 2, 1}, 6);
  const int deaths = rounds(6);
  for (int round = 0; round < deaths; ++round) {
    std::vector<offload::future<int>> running;
    std::atomic<int> settled{0};
    for (int i = 0; i < 6; ++i) {
      running.push_back((*over.step)(i, i == 3 ? 1 : no_victim));
      running.back().on_ready([&settled] { ++settled; });
    }
    int failed = 0;
    for (int i = 0; i < 6; ++i) {
      offload::future<int>& one = running[static_cast<std::size_t>(i)];
      if (!one.has_value())
        ++failed;
      else
        EXPECT_EQ(one.get(), i + 3);
    }
    EXPECT_GE(failed, 1);
    EXPECT_FALSE(running[3].valid() && running[3].has_value());
    EXPECT_EQ((*over.step)(1, no_victim).get(), 4);
    EXPECT_EQ(settled, 6);
  }
}

TEST(graph, a_node_that_is_lost_for_good_is_told_by_later_replays) {
  runtime rt(nodes("shm:2"));
  chain over({1, 2});
  EXPECT_THROW(static_cast<void>((*over.step)(1, 1).get()), node_failure);
  EXPECT_THROW(static_cast<void>((*over.step)(1, no_victim)), node_failure);
  chain other({1});
  EXPECT_EQ((*other.step)(1, no_victim).get(), 2);
}

TEST(graph, a_repeat_that_loses_a_node_settles) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1, often);
  offload::graph g;
  auto in = g.input<int>();
  auto last = g.repeat(
      in,
      [&](offload::graph_value<int> value) {
        return g.call(2, fn<&pass>, g.call(1, fn<&pass>, value, 0, no_victim), 1, no_victim);
      },
      fn<&is_large>);
  auto step = g.compile(last);
  EXPECT_EQ(step(0).get(), 1000);
  offload::graph endless;
  auto turns = endless.repeat(
      0,
      [&](offload::graph_value<int> value) {
        return endless.call(2, fn<&pass>, endless.call(1, fn<&twice>, value), 1, no_victim);
      },
      fn<&never>);
  auto run = endless.compile(turns);
  for (int i = 0; i < 3; ++i) {
    auto running = run();
    EXPECT_FALSE(running.wait_for(5ms));
    auto doomed = offload::async(1, [] { ::raise(SIGKILL); });
    EXPECT_THROW(static_cast<void>(running.get()), node_failure);
    EXPECT_FALSE(doomed.has_value());
    EXPECT_EQ(step(0).get(), 1000);
  }
}

TEST(graph, what_was_lost_with_a_process_is_an_input) {
  runtime rt(nodes("shm:1"));
  const double value = 2.5;
  offload::buffer<double> there(1, 1);
  offload::put(&value, there.ptr(), 1).get();
  offload::supervision how = often;
  how.on_respawn = [&](const offload::respawned& fresh) {
    there = offload::buffer<double>(fresh.node, 1);
    offload::put(&value, there.ptr(), 1).get();
  };
  offload::supervise(1, how);
  offload::graph g;
  auto in = g.input<offload::buffer_ptr<double>>();
  auto step = g.compile(g.call(1, fn<&first_of>, in), in);
  EXPECT_EQ(step(there.ptr()).get(), 2.5);
  auto doomed = offload::async(1, [] { ::raise(SIGKILL); });
  EXPECT_FALSE(doomed.has_value());
  offload::sync(1, [] {});
  EXPECT_EQ(step(there.ptr()).get(), 2.5);
}

TEST(graph, replays_of_thousands_of_graphs_leave_nothing_on_the_nodes) {
  runtime rt(nodes("shm:1"));
  for (int i = 0; i < 500; ++i) {
    chain one({1});
    ASSERT_EQ((*one.step)(i, no_victim).get(), i + 1);
  }
}

// ---- over every medium, also where targets reach each other through the host

class graph_over : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] runtime_options job() {
    if (GetParam() != "tcp") return nodes(GetParam());
    runtime_options options = nodes(server_.emplace("").nodes() + ",shm:1");
    options.tcp_security = "off";
    return options;
  }

 private:
  std::optional<server> server_;
};

TEST_P(graph_over, chains_repeats_transfers_and_failures) {
  const runtime rt(job());
  chain over({1, 2, 1, 0, 2});
  for (int i = 0; i < 20; ++i) EXPECT_EQ((*over.step)(i, no_victim).get(), i + 5);
  std::vector<offload::future<int>> running;
  for (int i = 0; i < 20; ++i) running.push_back((*over.step)(i, no_victim));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(running[static_cast<std::size_t>(i)].get(), i + 5);

  offload::graph g;
  auto in = g.input<int>();
  auto last = g.repeat(
      in,
      [&](offload::graph_value<int> value) { return g.call(2, fn<&pass>, g.call(1, fn<&twice>, value), 0, no_victim); },
      fn<&is_large>);
  EXPECT_EQ(g.compile(last, in)(1).get(), 1023);

  offload::graph moves;
  std::vector<double> here{1.5, 2.5}, back(2);
  offload::buffer<double> there(1, 2), beside(2, 2);
  auto put = moves.put(here, there);
  auto copied = moves.copy(there.ptr(), beside.ptr(), 2).after(put);
  auto got = moves.get(beside, back).after(copied);
  moves.compile(got)().get();
  EXPECT_EQ(back, here);

  offload::graph large;
  const std::vector<double> values(100'000, 0.5);
  auto whole = large.input<std::vector<double>>();
  auto passed = large.call(
      1, [](const std::vector<double>& all) { return all; }, whole);
  auto count = large.call(
      2, [](std::span<const double> all) { return all.size(); }, passed);
  EXPECT_EQ(large.compile(count)(values).get(), values.size());

  offload::graph fails;
  auto bad = fails.call(
      2, [](int value) -> int { throw std::out_of_range(std::to_string(value)); }, fails.call(1, fn<&twice>, 4));
  try {
    static_cast<void>(fails.compile(bad)().get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const stage_error& failed) {
    EXPECT_EQ(failed.stage(), bad.number());
    EXPECT_THROW(std::rethrow_exception(failed.cause()), std::out_of_range);
  }
}

INSTANTIATE_TEST_SUITE_P(over, graph_over,
                         testing::Values("loopback:2", "shm:2", "tcp", "emulated:2", "emulated:2/initiator=host"),
                         [](const auto& info) { return info.param.substr(0, 3) + std::to_string(info.index); });

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
