// Targets that ranks have started (each: in HAM_NODES) are nodes of the whole job. Run under mpirun; rank 0 runs the
// tests. TEST_RANKS, and TEST_EACH: how many targets each rank has.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload.hpp"
#include "offload/block_crossing.hpp"
#include "offload/calls_between.hpp"

using namespace ham;
using namespace ham::test;
using namespace std::chrono_literals;

namespace {

node_t number_of(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : static_cast<node_t>(std::atoi(text));
}
node_t ranks() { return number_of("TEST_RANKS"); }
node_t end_of_targets() { return ranks() + ranks() * number_of("TEST_EACH"); }
/// Groups in the order of HAM_NODES, each with the targets of rank 0 first.
node_t starter_of(node_t target) { return (target - ranks()) / number_of("TEST_PER_GROUP") % ranks(); }
node_t target_of(node_t rank) { return ranks() + rank * number_of("TEST_PER_GROUP"); }

pid_t my_parent() { return ::getppid(); }
std::string failure_of(node_t node) {
  try {
    offload::sync(node, [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  } catch (const node_failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(rank_targets, are_numbered_behind_the_ranks_and_children_of_theirs) {
  ASSERT_GE(static_cast<node_t>(offload::num_nodes()), end_of_targets());
  for (node_t node = ranks(); node < end_of_targets(); ++node) {
    EXPECT_EQ(offload::sync(node, fn<&offload::this_node>), node);
    EXPECT_EQ(offload::sync(node, fn<&my_parent>), pid_of(starter_of(node))) << node;
  }
}

TEST(rank_targets, everybody_calls_everybody) {
  for (node_t from = 0; from < static_cast<node_t>(offload::num_nodes()); ++from) {
    for (node_t to = 0; to < static_cast<node_t>(offload::num_nodes()); ++to)
      EXPECT_EQ(offload::sync(from, fn<&pid_of>, to), pid_of(to)) << from << " to " << to;
  }
}

TEST(rank_targets, say_through_whom_they_are_reached) {
  const node_t near = target_of(1);
  const node_t far = target_of(2);
  EXPECT_EQ(offload::sync(0, fn<&medium_to>, near), "through node 1");
  EXPECT_EQ(offload::sync(2, fn<&medium_to>, near), "through node 1");
  EXPECT_EQ(offload::sync(far, fn<&medium_to>, near), "through node 2");
  EXPECT_EQ(offload::sync(near, fn<&medium_to>, node_t{0}), "through node 1");
  const std::string direct = offload::sync(1, fn<&medium_to>, near);
  EXPECT_EQ(direct.find("through"), std::string::npos) << direct;
  EXPECT_EQ(offload::sync(near, fn<&medium_to>, node_t{1}), direct);
}

TEST(rank_targets, calls_between_those_of_different_ranks) {
  const node_t one = target_of(1);
  const node_t other = target_of(2);
  for (const std::size_t size : {0U, 40U, 5'000U, 300'000U, 5'000'000U}) {
    const std::string text(size, 'm');
    EXPECT_EQ(offload::sync(one, fn<&twice_at>, other, text), text + text) << size;
  }
  EXPECT_EQ(offload::sync(one, fn<&complaint_of>, other, 7), "code 7");
  EXPECT_EQ(offload::sync(one, fn<&ping_pong>, other, 40), 40);
  EXPECT_EQ(offload::sync(other, fn<&batch_of_calls>, one, 50), 50 * 51 / 2);
  EXPECT_EQ(offload::sync(other, fn<&calls_of_a_context>, one, 50), 50 * 51 / 2);
  auto there = offload::async(one, fn<&many_calls>, other, 2000);
  auto back = offload::async(other, fn<&many_calls>, one, 2000);
  EXPECT_EQ(there.get(), 2000);
  EXPECT_EQ(back.get(), 2000);
}

TEST(rank_targets, memory) {
  const node_t one = target_of(1);
  const node_t other = target_of(2);
  expect_blocks_cross(one, other);
  constexpr std::size_t n = 300'001;
  std::vector<double> sent(n);
  std::iota(sent.begin(), sent.end(), 0.5);
  const offload::buffer<double> first(one, n);
  const offload::buffer<double> second(other, n);
  offload::put_sync(sent.data(), first.ptr(), n);
  offload::copy_sync(first.ptr(), second.ptr(), n);
  std::vector<double> got(n);
  offload::get_sync(second.ptr(), got.data(), n);
  EXPECT_EQ(got, sent);
}

/// Otherwise neither this call ends, nor the one that waits for it.
TEST(rank_targets, are_reached_while_their_rank_is_busy) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("ham_busy_" + std::to_string(::getpid()))).string();
  auto busy = offload::async(
      1,
      [](const std::string& name) {
        while (!std::filesystem::exists(name)) std::this_thread::sleep_for(1ms);
      },
      file);
  EXPECT_EQ(offload::sync(target_of(1), fn<&twice>, std::string("a")), "aa");
  EXPECT_EQ(offload::sync(target_of(2), fn<&twice_at>, target_of(1), std::string("b")), "bb");
  std::ofstream(file) << "go on\n";
  busy.get();
  std::filesystem::remove(file);
}

TEST(rank_targets, come_with_the_job_and_not_later) {
  try {
    offload::add_node("each:shm:1");
    FAIL();
  } catch (const config_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("mpi,each:"), std::string::npos) << refused.what();
  }
}

TEST(rank_targets, nodes_that_are_added_meet_them) {
  const node_t fresh = offload::add_node("shm:1");
  EXPECT_EQ(offload::sync(fresh, fn<&pid_of>, target_of(1)), pid_of(target_of(1)));
  EXPECT_EQ(offload::sync(target_of(2), fn<&pid_of>, fresh), pid_of(fresh));
  offload::remove_node(fresh);
}

/// The last two, each with one target less.
TEST(rank_targets, a_removed_one_ends_also_if_it_is_busy) {
  const node_t gone = target_of(2);
  const pid_t process = pid_of(gone);
  offload::ping(gone, [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  offload::remove_node(gone, 100ms);
  for (int i = 0; i < 5000 && offload::sync(
                                  2, [](int pid) { return ::kill(pid, 0); }, process) == 0;
       ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_NE(offload::sync(
                2, [](int pid) { return ::kill(pid, 0); }, process),
            0);
  EXPECT_NE(offload::sync(target_of(1), fn<&failure_of>, gone), "");
}

TEST(rank_targets, the_death_of_one_is_told_to_all) {
  const node_t dies = target_of(1);
  const std::string medium = offload::sync(1, fn<&medium_to>, dies);
  auto at_the_host = offload::async(dies, [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  auto at_a_rank = offload::async(2, fn<&failure_of>, dies);
  EXPECT_FALSE(at_a_rank.wait_for(200ms));
  offload::sync(
      1, [](int pid) { ::kill(pid, SIGKILL); }, static_cast<int>(offload::get_node_descriptor(dies).pid()));
  const std::string why = at_a_rank.get();
  // VEO does not tell how a process has ended.
  const char* const how = medium.starts_with("ve") ? "its process has ended" : "killed by signal 9";
  EXPECT_NE(why.find(how), std::string::npos) << why;
  EXPECT_THROW(at_the_host.get(), node_failure);
  EXPECT_EQ(offload::sync(target_of(0), fn<&next>, 1), 2) << "the rest of the job goes on";
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // For the check that none is left (CMakeLists.txt).
  if (const char* const file = std::getenv("TEST_PIDS")) {
    std::ofstream pids(file);
    for (node_t node = ranks(); node < end_of_targets(); ++node) pids << pid_of(node) << "\n";
  }
  return RUN_ALL_TESTS();
}
