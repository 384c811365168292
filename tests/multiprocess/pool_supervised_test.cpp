// Pools whose nodes are started again when they die: tasks wait for them, and they get tasks again.
// link: ham::ham
// timeout: 300
#include "support.hpp"

#include <atomic>
#include <csignal>
#include <thread>

#include "ham/offload/pool.hpp"

using namespace ham;
using namespace ham::test;

namespace {

node_t where() { return offload::this_node(); }
pid_t my_pid() { return ::getpid(); }
int twice(int value) { return 2 * value; }
int die_of(int signal) {
  ::raise(signal);
  return 0;
}
void kill_process_of(node_t number) {
  const pid_t pid = offload::sync(number, fn<&my_pid>);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
}

TEST(supervised_pool, tasks_of_its_only_node_wait_for_the_next_process) {
  runtime rt(nodes("shm:1"));
  offload::supervise(1, {.max_restarts = 100});
  offload::pool workers({1});
  for (int round = 0; round < 3 && !HasFailure(); ++round) {
    const pid_t before = offload::sync(1, fn<&my_pid>);
    std::vector<offload::future<int>> tasks;
    for (int i = 0; i < 8; ++i) tasks.push_back(workers.async(idempotent(fn<&twice>), i));
    kill_process_of(1);
    for (int i = 8; i < 40; ++i) tasks.push_back(workers.async(idempotent(fn<&twice>), i));
    for (int i = 0; i < 40; ++i) EXPECT_EQ(tasks[static_cast<std::size_t>(i)].get(), 2 * i);
    EXPECT_EQ(workers.living(), 1U);
    EXPECT_NE(workers.async(fn<&my_pid>).get(), before);
  }
}

TEST(supervised_pool, a_node_that_was_started_again_gets_tasks_again) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1, {.max_restarts = 100});
  offload::pool workers({1, 2}, {.per_node = 4});
  kill_process_of(1);
  const node_t before = offload::process_of(1);
  bool has_returned = false;
  const auto tasks_reach_the_new_process = [&] {
    std::vector<offload::future<node_t>> tasks;
    for (int i = 0; i < 8; ++i) tasks.push_back(workers.async(idempotent(fn<&where>)));
    for (auto& one : tasks) {
      const node_t process = one.get();
      has_returned = has_returned || (process != 2 && process != before);
    }
    return has_returned;
  };
  EXPECT_TRUE(eventually(tasks_reach_the_new_process));
  EXPECT_EQ(workers.living(), 2U);
  EXPECT_EQ(offload::number_of(offload::process_of(1)), 1);
}

TEST(supervised_pool, a_map_goes_on_when_its_nodes_die_again_and_again) {
  runtime rt(nodes("shm:2"));
  for (const node_t node : {1, 2}) offload::supervise(node, {.max_restarts = 100});
  offload::pool workers;
  const std::vector<int> elements(20'000, 21);
  std::atomic<bool> over = false;
  std::atomic<int> kills = 0;
  std::thread killer([&] {
    for (node_t node = 1; !over; node = 3 - node, ++kills) {
      try {
        kill_process_of(node);
      } catch (const node_failure&) {  // it was killed before the call
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // one after the other
    }
  });
  while (kills < rounds(5) && !HasFailure()) {
    const std::vector<int> results = workers.map(elements, idempotent(fn<&twice>), {.chunk = 50});
    EXPECT_EQ(std::count(results.begin(), results.end(), 42), 20'000);
  }
  over = true;
  killer.join();
  EXPECT_EQ(workers.living(), 2U);
}

TEST(supervised_pool, a_task_that_kills_its_node_is_not_repeated_for_ever) {
  runtime rt(nodes("shm:2"));
  for (const node_t node : {1, 2}) offload::supervise(node, {.max_restarts = 100});
  offload::pool workers;
  auto deadly = workers.async(idempotent(fn<&die_of>), SIGKILL);
  try {
    deadly.get();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.outcome(), call_outcome::may_have_run) << failure.what();
  }
  EXPECT_EQ(workers.async(idempotent(fn<&twice>), 4).get(), 8) << "the pool goes on";
  EXPECT_EQ(workers.living(), 2U);
}

TEST(supervised_pool, a_node_that_is_given_up_gets_no_more_tasks) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1, {.max_restarts = 0});
  offload::pool workers({1, 2}, {.per_node = 1});
  kill_process_of(1);
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(workers.async(idempotent(fn<&where>)).get(), 2);
    auto one = workers.async(idempotent(fn<&where>));
    auto other = workers.async(idempotent(fn<&where>));  // there is room on the other node only
    EXPECT_EQ(one.get() + other.get(), 4);
    return workers.living() == 1;
  }));
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
