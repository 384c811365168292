// A job of MPI's ranks: the program is the same as without MPI. Run under mpirun; rank 0 runs the tests.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agreement/application.hpp"
#include "ham/offload.hpp"
#include "ham/offload/group.hpp"
#include "offload/block_crossing.hpp"
#include "offload/group_tree.hpp"
#include "offload/job_verbs.hpp"
#include "offload/richer_calls.hpp"
#include "offload/richer_calls_limits.hpp"
#include "some_attempt.hpp"

using namespace ham;

namespace {

node_t nodes() { return static_cast<node_t>(offload::num_nodes()); }
pid_t my_pid() { return ::getpid(); }
int add(int a, int b) { return a + b; }
std::string echo(const std::string& text) { return text; }
int add_at(node_t where, int a, int b) { return offload::sync(where, fn<&add>, a, b); }
double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}
std::string environment(const std::string& name) {
  const char* const text = std::getenv(name.c_str());
  return text == nullptr ? "" : text;
}

TEST(job, every_rank_is_a_node_of_its_own) {
  EXPECT_EQ(std::to_string(nodes()), environment("TEST_RANKS"));
  std::set<pid_t> pids{my_pid()};
  for (node_t node = 1; node < nodes(); ++node) {
    pids.insert(offload::sync(node, fn<&my_pid>));
    EXPECT_EQ(offload::get_node_descriptor(node).pid(), offload::sync(node, fn<&my_pid>));
    EXPECT_EQ(offload::get_node_descriptor(node).transport(), "mpi");
    EXPECT_EQ(offload::sync(node, fn<&offload::this_node>), node);
  }
  EXPECT_EQ(pids.size(), static_cast<std::size_t>(nodes()));
}

TEST(job, everybody_calls_everybody) {
  for (node_t from = 1; from < nodes(); ++from) {
    for (node_t to = 0; to < nodes(); ++to) EXPECT_EQ(offload::sync(from, fn<&add_at>, to, from, to), from + to);
  }
}

TEST(job, calls_are_stopped_repeated_and_recorded_as_over_other_transports) { test::richer_calls::expect_all(); }

TEST(job, richer_calls_keep_their_limits) { test::richer_calls::expect_limits(); }

TEST(job, calls_of_a_group_reach_its_nodes_along_a_tree) { test::group_tree::expect_tree(); }

TEST(job, ranks_cannot_be_supervised_and_the_error_says_why) {
  for (node_t node = 1; node < nodes(); ++node) {
    try {
      offload::supervise(node);
      ADD_FAILURE() << node;
    } catch (const config_error& why) {
      const std::string said = why.what();
      EXPECT_EQ(said.find("node " + std::to_string(node) + " cannot be supervised (it is a rank, process "), 0U)
          << said;
      EXPECT_NE(said.find("+restart"), std::string::npos) << said;
    }
    EXPECT_EQ(offload::sync(node, fn<&add>, 1, 2), 3);
  }
}

std::vector<node_t> ranks() {
  std::vector<node_t> all;
  for (node_t node = 1; node < nodes(); ++node) all.push_back(node);
  return all;
}

TEST(job, event_loops_continuations_and_events_are_as_over_other_transports) {
  test::job_verbs::expect_all_but_deaths(ranks());
}

TEST(job, calls_of_ranks_are_not_killed_and_the_error_says_why) {
  for (const node_t node : ranks()) {
    test::job_verbs::expect_not_killed(node, [&](const std::string& why) {
      EXPECT_EQ(why.find("the process of node " + std::to_string(node) + " cannot be ended by node 0 (only targets"),
                0U)
          << why;
      EXPECT_NE(why.find("; remove_node"), std::string::npos) << why;
    });
  }
}

TEST(job, groups_call_all_ranks) {
  const offload::group all;
  EXPECT_EQ(all.size(), static_cast<std::size_t>(nodes()) - 1);
  EXPECT_EQ(offload::sync_all(all, fn<&offload::this_node>), all.nodes());
  EXPECT_EQ(offload::reduce_all(all, fn<&offload::this_node>, std::plus<>()).get(), nodes() * (nodes() - 1) / 2);
  EXPECT_EQ(offload::sync_all(all, fn<&echo>, std::string(1 << 20, 'x')).back().size(), std::size_t{1} << 20);
}

TEST(job, many_calls_are_under_way) {
  std::vector<offload::future<int>> sums;
  for (int i = 0; i < 20000; ++i) sums.push_back(offload::async(1 + i % (nodes() - 1), fn<&add>, i, 1));
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(sums[static_cast<std::size_t>(i)].get(), i + 1);
}

TEST(job, long_messages_in_both_directions_at_once) {
  std::vector<offload::future<std::string>> answers;
  for (int i = 0; i < 12; ++i) {
    answers.push_back(
        offload::async(1 + i % (nodes() - 1), fn<&echo>, std::string(3'000'000, static_cast<char>('a' + i))));
  }
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(answers[static_cast<std::size_t>(i)].get(), std::string(3'000'000, static_cast<char>('a' + i)));
  }
}

TEST(job, blocks_of_rows) {
  for (node_t node = 1; node < nodes(); ++node) ham::test::expect_blocks_cross(node, node - 1);
}

TEST(job, memory_goes_from_the_host_round_all_targets) {
  const std::size_t count = 1'000'000;
  std::vector<double> sent(count);
  std::iota(sent.begin(), sent.end(), 0.5);
  std::vector<offload::buffer<double>> there;
  for (node_t node = 1; node < nodes(); ++node) there.emplace_back(node, count);
  offload::put_sync(sent.data(), there.front().ptr(), count);
  for (std::size_t i = 1; i < there.size(); ++i) offload::copy_sync(there[i - 1].ptr(), there[i].ptr(), count);
  std::vector<double> got(count);
  offload::get_sync(there.back().ptr(), got.data(), count);
  EXPECT_EQ(got, sent);
  const offload::buffer_ptr<double> stale = there.front().ptr();
  there.front() = offload::buffer<double>();
  EXPECT_THROW(offload::put_sync(sent.data(), stale, 1), buffer_error);
}

TEST(job, threads_and_contexts_call_at_once) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([t] {
      const offload::context ordered(1 + t % (nodes() - 1));
      for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(offload::sync(1 + i % (nodes() - 1), fn<&add>, i, t), i + t);
        EXPECT_EQ(offload::sync(ordered, fn<&add_at>, 0, i, t), i + t);
      }
    });
  }
  // The host's own thread executes what comes back to it.
  auto done = offload::async(1, fn<&add>, 0, 0);
  for (std::thread& one : threads) one.join();
  done.get();
}

TEST(job, an_idle_target_leaves_its_core_to_others) {
  EXPECT_TRUE(test::in_some_attempt([] {  // on a busy machine a second of sleep may be several
    const auto began = std::chrono::steady_clock::now();
    const double before = offload::sync(1, fn<&cpu_seconds>);
    ::sleep(1);
    const double used = offload::sync(1, fn<&cpu_seconds>) - before;
    return used < 0.5 * std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }));
}

std::unique_ptr<runtime> below;  // of each rank

std::size_t start_below(const std::string& nodes) {
  runtime_options options;
  options.nodes = nodes;
  below = std::make_unique<runtime>(options);
  return below->num_nodes();
}
int sum_below(int value) {
  const runtime::scope here = below->use();
  int sum = 0;
  for (node_t node = 1; node < nodes(); ++node) {
    EXPECT_EQ(offload::get_node_descriptor(node).transport(), "shm");
    sum += offload::sync(node, fn<&add>, value, 1);
  }
  return sum;
}
void end_below() { below.reset(); }

TEST(job, every_rank_has_targets_of_its_own_machine_below_it) {
  for (node_t node = 1; node < nodes(); ++node)
    EXPECT_EQ(offload::sync(node, fn<&start_below>, std::string("shm:2")), 3U);
  std::vector<offload::future<int>> sums;
  for (int i = 0; i < 200; ++i) sums.push_back(offload::async(1 + i % (nodes() - 1), fn<&sum_below>, i));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)].get(), 2 * (i + 1));
  // The ranks' own job goes on beside it.
  EXPECT_EQ(offload::sync(1, fn<&add_at>, 0, 1, 2), 3);
  for (node_t node = 1; node < nodes(); ++node) offload::sync(node, fn<&end_below>);
}

/// Why a job whose host would run on a core that is not there does not start.
std::string why_not_below() {
  runtime_options options;
  options.nodes = "shm:1";
  options.cpu_affinity = "1023";
  try {
    const runtime none(options);
    return {};
  } catch (const config_error& why) {
    return why.what();
  }
}

TEST(job, a_runtime_below_that_cannot_start_leaves_the_ranks_alone) {
  for (const std::string& why : {why_not_below(), offload::sync(1, fn<&why_not_below>)})
    EXPECT_NE(why.find("cannot run the host on core 1023"), std::string::npos) << why;
  EXPECT_EQ(offload::sync(1, fn<&add_at>, 0, 1, 2), 3);
}

TEST(job, the_host_adds_targets_of_its_own_machine) {
  const node_t fresh = offload::add_node("shm:1");
  EXPECT_EQ(offload::sync(fresh, fn<&add>, 40, 2), 42);
  EXPECT_EQ(offload::get_node_descriptor(fresh).transport(), "shm");
  EXPECT_EQ(offload::sync(1, fn<&add_at>, fresh, 1, 1), 2) << "through the host";
  EXPECT_EQ(offload::sync(fresh, fn<&add_at>, 1, 1, 1), 2) << "through the host";
  EXPECT_EQ(offload::sync(1, fn<&add_at>, 0, 1, 1), 2);
  offload::remove_node(fresh);
}

TEST(job, what_is_added_and_removed_is_told) {
  const test::job_verbs::told_events told;
  const node_t fresh = offload::add_node("shm:1");
  EXPECT_EQ(told.first(offload::event_kind::joined, fresh).node, fresh);
  offload::remove_node(fresh);
  EXPECT_TRUE(told.first(offload::event_kind::lost, fresh).orderly);
}

TEST(job, a_target_beside_the_ranks_that_hangs_is_replaced) {
  const node_t fresh = offload::add_node("shm:1");
  const test::job_verbs::told_events told;
  const pid_t before = offload::sync(fresh, fn<&my_pid>);
  offload::supervise(fresh, {.hang_after = std::chrono::seconds(2)});
  EXPECT_THROW(offload::sync(fresh, fn<&test::job_verbs::hang>), node_failure);
  EXPECT_NE(offload::sync(fresh, fn<&my_pid>), before);
  EXPECT_NE(told.first(offload::event_kind::hang, fresh).reason.find("no answer to "), std::string::npos);
  offload::remove_node(fresh);
}

TEST(job, processes_are_spawned_where_mpi_can) {
  try {
    const node_t fresh = offload::spawn("mpi:2", "/proc/self/exe");
    EXPECT_EQ(offload::sync(fresh, fn<&add>, 1, 2), 3);
    EXPECT_EQ(offload::sync(fresh, fn<&add_at>, fresh + 1, 1, 2), 3);
    EXPECT_EQ(offload::sync(fresh + 1, fn<&add_at>, 0, 1, 2), 3);
    EXPECT_EQ(offload::sync(fresh + 1, fn<&add_at>, 1, 1, 2), 3) << "through the host";
    EXPECT_EQ(offload::sync(1, fn<&add_at>, fresh, 1, 2), 3);
    EXPECT_EQ(offload::get_node_descriptor(fresh + 1).transport(), "mpi");
    EXPECT_TRUE(environment("TEST_SPAWNS") == "yes");
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("MPI cannot start"), std::string::npos) << problem.what();
    EXPECT_FALSE(environment("TEST_SPAWNS") == "yes") << problem.what();
  }
  EXPECT_THROW(offload::spawn("mpi", "./app"), config_error);
  EXPECT_THROW(offload::spawn("tcp://127.0.0.1:1", "./app"), config_error);
  EXPECT_EQ(offload::sync(1, fn<&add>, 1, 1), 2);
}

TEST(job, ranks_of_another_program_are_called_by_name) {
  if (environment("TEST_OTHER").empty()) GTEST_SKIP() << "all ranks run the same program";
  EXPECT_EQ(offload::sync(1, fn<&app::both>, 4, 2), 42);
  EXPECT_EQ(offload::sync(1, app::twice, 21), 42);
  EXPECT_THROW(offload::sync(1, fn<&app::added>, 1), call_error);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  return failed != 0 ? failed : std::atoi(environment("TEST_STATUS").c_str());
}
