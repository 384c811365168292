// Emulated GPUs whose processes end, by faults, functions that never end, and signals, and are started again.
// link: ham::ham
// timeout: 300
#include <ham/device.hpp>
#include <ham/offload/counters.hpp>
#include <ham/offload/group.hpp>
#include <ham/offload/pool.hpp>

#include "some_attempt.hpp"
#include "support.hpp"
#include "thrown_message.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

using namespace ham;
using namespace ham::test;

namespace device_supervise_test {

using word = offload::buffer_ptr<std::uint64_t>;

HAM_DEVICE int marked(int value) { return 2 * value + (device::detail::this_lane() != nullptr ? 1 : 0); }
HAM_DEVICE std::uint64_t word_at(word at) { return *at.get(); }
HAM_DEVICE void faults(int /*value*/) { device::trap("an illegal memory access was encountered"); }
/// In the process of that id.
HAM_DEVICE int faults_in(int process) {
  if (::getpid() == process) device::trap("an illegal memory access was encountered");
  return 7;
}
HAM_DEVICE int takes_ms(int time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time));
  return time;
}
HAM_DEVICE void never_ends(int /*value*/) {
  volatile bool forever = true;
  while (forever) {
  }
}

}  // namespace device_supervise_test

HAM_DEVICE_FUNCTION(device_supervise_test::marked, thread)
HAM_DEVICE_FUNCTION(device_supervise_test::word_at, thread)
HAM_DEVICE_FUNCTION(device_supervise_test::faults, block)
HAM_DEVICE_FUNCTION(device_supervise_test::faults_in, block)
HAM_DEVICE_FUNCTION(device_supervise_test::takes_ms, thread)
HAM_DEVICE_FUNCTION(device_supervise_test::never_ends, thread)

namespace {

using namespace device_supervise_test;

pid_t own_pid() { return ::getpid(); }
void kill_process_of(node_t number) { ASSERT_EQ(::kill(offload::sync(number, fn<&own_pid>), SIGKILL), 0); }
/// A call waits for the next process only once the host knows that there will be one: before, it fails.
int marked_again(node_t number, int value) {
  return offload::sync(offload::retry(number, 20), idempotent(fn<&marked>), value);
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The process is there for some 20 ms, so that what it has answered arrives.
TEST(faulty_device, loses_calls_that_arrive_before_its_process_ends_so_that_they_are_repeated) {
  const runtime rt(nodes("cuda-emulated:1+restart"));
  for (int round = 0; round < 3; ++round) {
    EXPECT_THROW(offload::sync(1, fn<&faults>, 1), node_failure);
    EXPECT_EQ(marked_again(1, round), 2 * round + 1) << "by the next process";
  }
}

TEST(faulty_device, gets_no_more_tasks_of_a_pool_than_it_has_places) {
  const runtime rt(nodes("cuda-emulated:2"));
  offload::pool workers;
  EXPECT_THROW(offload::sync(1, fn<&faults>, 1), node_failure);
  std::vector<offload::future<int>> tasks;
  for (int i = 0; i < 200; ++i) tasks.push_back(workers.async(idempotent(fn<&marked>), i));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(tasks[static_cast<std::size_t>(i)].get(), 2 * i + 1) << "by the other node";
}

/// They are answered with the reason before the process is known to be lost.
TEST(faulty_device, has_the_calls_that_it_had_repeated_by_its_next_process) {
  const runtime rt(nodes("cuda-emulated:1+restart"));
  for (int round = 0; round < 2; ++round) {
    const pid_t before = offload::sync(1, fn<&own_pid>);
    auto cause = offload::async(offload::retry(1, 20), idempotent(fn<&faults_in>), before);
    std::vector<offload::future<int>> behind;  // more than the queue of a block holds
    for (int i = 0; i < 50; ++i) behind.push_back(offload::async(offload::retry(1, 20), idempotent(fn<&marked>), i));
    EXPECT_EQ(cause.get(), 7);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(behind[static_cast<std::size_t>(i)].get(), 2 * i + 1);
    EXPECT_NE(offload::sync(1, fn<&own_pid>), before);
  }
}

TEST(faulty_device, has_the_tasks_that_it_had_repeated_by_other_nodes) {
  const runtime rt(nodes("cuda-emulated:2"));
  offload::pool workers;
  const pid_t first = offload::sync(1, fn<&own_pid>);
  std::vector<offload::future<int>> tasks;
  for (int i = 0; i < 50; ++i) tasks.push_back(workers.async(idempotent(fn<&faults_in>), first));
  for (auto& one : tasks) EXPECT_EQ(one.get(), 7) << "by the other node";
  EXPECT_EQ(workers.living(), 1U);
}

TEST(faulty_device, has_the_chunks_of_maps_that_it_had_repeated) {
  const runtime rt(nodes("cuda-emulated:2+restart"));
  offload::pool workers;
  const std::vector<int> elements(200, offload::sync(1, fn<&own_pid>));
  EXPECT_EQ(workers.map(elements, idempotent(fn<&faults_in>), {.chunk = 20}), std::vector<int>(200, 7));
  EXPECT_EQ(workers.living(), 2U);
}

TEST(faulty_device, gives_its_reason_where_no_other_process_is_there) {
  const runtime rt(nodes("cuda-emulated:2"));
  offload::supervise(2, {.max_restarts = 1});
  offload::pool workers(std::vector<node_t>{1});
  for (const auto& what :
       std::vector<std::function<void()>>{[] { offload::sync(offload::retry(2, 5), idempotent(fn<&faults>), 1); },
                                          [&] { workers.async(idempotent(fn<&faults>), 1).get(); }}) {
    const std::string why = message_of<node_failure>(what);
    EXPECT_TRUE(has(why, "an illegal memory access was encountered") && has(why, "faults")) << why;
  }
  EXPECT_EQ(workers.living(), 0U);
}

TEST(supervised_device, in_the_list_of_nodes) {
  const runtime rt(nodes("cuda-emulated:2+restart"));
  for (const node_t node : {1, 2}) {
    const pid_t before = offload::sync(node, fn<&own_pid>);
    EXPECT_EQ(offload::sync(node, fn<&marked>, 4), 9);
    kill_process_of(node);
    EXPECT_EQ(marked_again(node, 5), 11) << "on the device of the next process";
    EXPECT_NE(offload::sync(node, fn<&own_pid>), before);
    EXPECT_EQ(offload::get_node_descriptor(node).device_type(), "cuda-emulated");
    EXPECT_NE(offload::process_of(node), node);
  }
}

TEST(supervised_device, is_started_again_after_a_fault) {
  const runtime rt(nodes("cuda-emulated:1"));
  std::vector<std::string> reasons;
  offload::supervision how;
  how.max_restarts = 100;
  how.on_respawn = [&](const offload::respawned& fresh) {
    reasons.push_back(fresh.reason);
    EXPECT_EQ(offload::sync(fresh.node, fn<&marked>, 1), 3) << "before any other call";
  };
  offload::supervise(1, how);
  for (int round = 0; round < 3; ++round) {
    const std::string why = message_of<node_failure>([] { offload::sync(1, fn<&faults>, 1); });
    EXPECT_TRUE(has(why, "an illegal memory access was encountered") && has(why, "faults")) << why;
    EXPECT_TRUE(eventually([&] { return offload::process_of(1) != 1 && marked_again(1, round) == 2 * round + 1; }));
  }
  EXPECT_GE(reasons.size(), 1U);
}

TEST(supervised_device, refuses_handles_of_the_process_before) {
  const runtime rt(nodes("cuda-emulated:1+restart"));
  const std::uint64_t sent = 77;
  for (int epoch = 0; epoch < 2; ++epoch) {
    const word old = offload::allocate<std::uint64_t>(1, 1);
    auto old_context = std::make_unique<offload::context>(1);
    const offload::destination old_queue = *old_context;
    offload::put(&sent, old, 1).get();
    EXPECT_EQ(offload::sync(old_queue, fn<&word_at>, old), sent);
    kill_process_of(1);
    EXPECT_EQ(marked_again(1, 2), 5);

    const word fresh = offload::allocate<std::uint64_t>(1, 1);  // where the old one was
    offload::put(&sent, fresh, 1).get();
    const std::uint64_t wrong = 1;
    const std::string said = message_of<node_failure>([&] { offload::put(&wrong, old, 1).get(); });
    EXPECT_TRUE(has(said, "started again")) << said;
    std::uint64_t got = 0;
    EXPECT_THROW(offload::get(old, &got, 1).get(), node_failure);
    EXPECT_THROW(offload::copy(old, fresh, 1).get(), node_failure);
    EXPECT_THROW(offload::free(old), node_failure);
    EXPECT_THROW(static_cast<void>(offload::sync(old_queue, fn<&marked>, 1)), node_failure);
    old_context.reset();
    EXPECT_EQ(offload::sync(1, fn<&word_at>, fresh), sent) << "nothing was written there";
    offload::free(fresh);
  }
}

TEST(supervised_device, is_ended_when_a_function_does_not_answer_for_too_long) {
  const runtime rt(nodes("cuda-emulated:1/watchdog=0,shm:1"));
  offload::supervision how;
  how.hang_after = 300ms;
  how.max_restarts = 100;
  std::mutex mutex;
  std::string reasons;  // on a busy machine the next process may be late as well
  offload::on_event([&](const offload::event& what) {
    const std::lock_guard guard(mutex);
    if (what.kind == offload::event_kind::hang) reasons += what.reason + "\n";
  });
  offload::supervise(1, how);
  const std::string why = message_of<node_failure>([] { offload::sync(1, fn<&never_ends>, 1); });
  EXPECT_TRUE(has(why, "never_ends") || has(why, "has begun no call")) << why;
  EXPECT_EQ(marked_again(1, 3), 7);
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard guard(mutex);
    return has(reasons, "no answer to device_supervise_test::never_ends");
  })) << reasons;
  EXPECT_EQ(offload::sync(2, fn<&marked>, 3), 6) << "the other node goes on";
}

/// A busy machine may give its process no core for long.
TEST(supervised_device, is_not_ended_while_it_finishes_elements_of_a_map) {
  EXPECT_TRUE(in_some_attempt([] {
    const runtime rt(nodes("cuda-emulated:1"));
    offload::supervision how;
    how.hang_after = 2s;
    offload::supervise(1, how);
    offload::pool workers;
    const std::vector<int> elements(30, 100);  // one chunk, longer than that
    try {
      EXPECT_EQ(workers.map(elements, fn<&takes_ms>, {.chunk = elements.size()}), elements);
    } catch (const node_failure&) {
      return false;
    }
    return offload::process_of(1) == 1;
  }));
}

/// A busy machine may not begin the function before its deadline: then it gets a longer one.
TEST(supervised_device, is_ended_by_its_watchdog) {
  const runtime rt(nodes("cuda-emulated:1/watchdog=500+restart"));
  for (auto deadline = 50ms; offload::process_of(1) == 1 && deadline < 60s; deadline *= 2) {
    EXPECT_THROW(offload::sync(offload::within(1, deadline), fn<&never_ends>, 1), deadline_exceeded);
    EXPECT_EQ(marked_again(1, 3), 7) << "by the next process, or because it has not begun";
  }
  EXPECT_NE(offload::process_of(1), 1);
}

TEST(supervised_device, has_calls_of_groups_again) {
  const runtime rt(nodes("cuda-emulated:3+restart"));
  const offload::group all;
  EXPECT_EQ(offload::sync_all(all, fn<&marked>, 1), std::vector<int>(3, 3));
  kill_process_of(2);
  EXPECT_EQ(marked_again(2, 1), 3);
  EXPECT_TRUE(eventually([&] {  // the other devices' processes have to hear of it, too
    return offload::async_all(all, fn<&marked>, 4).get().all_ok();
  }));
  EXPECT_EQ(offload::sync_all(all, fn<&marked>, 4), std::vector<int>(3, 9));
}

TEST(supervised_device, has_tasks_of_pools_again) {
  const runtime rt(nodes("cuda-emulated:2"));
  for (const node_t node : {1, 2}) offload::supervise(node, {.max_restarts = 100});
  offload::pool workers;
  const std::vector<int> elements(3'000, 4);
  for (int round = 0; round < 2; ++round) {
    std::vector<offload::future<int>> tasks;
    for (int i = 0; i < 40; ++i) tasks.push_back(workers.async(idempotent(fn<&marked>), i));
    kill_process_of(1);
    for (int i = 40; i < 100; ++i) tasks.push_back(workers.async(idempotent(fn<&marked>), i));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(tasks[static_cast<std::size_t>(i)].get(), 2 * i + 1);
    const auto found = workers.map(elements, idempotent(fn<&marked>), {.chunk = 100});
    EXPECT_EQ(std::count(found.begin(), found.end(), 9), 3'000);
  }
  EXPECT_EQ(workers.living(), 2U);
}

TEST(supervised_device, is_given_up_after_too_many_faults) {
  const runtime rt(nodes("cuda-emulated:2"));
  offload::supervise(1, {.max_restarts = 1});
  static_cast<void>(message_of<node_failure>([] { offload::sync(1, fn<&faults>, 1); }));
  EXPECT_EQ(marked_again(1, 1), 3);
  static_cast<void>(message_of<node_failure>([] { offload::sync(1, fn<&faults>, 1); }));
  EXPECT_TRUE(eventually([] {
    try {
      offload::sync(1, fn<&marked>, 1);
      return false;
    } catch (const node_failure& failure) {
      return has(failure.what(), "given up");
    }
  }));
  EXPECT_EQ(offload::sync(2, fn<&marked>, 1), 3);
}

TEST(supervised_device, has_counters_of_its_next_process) {
  const runtime rt(nodes("cuda-emulated:1/linger=1000+restart,shm:1"));
  const auto use_of = [](node_t node) {
    const auto jobs = read_counters(::getpid());
    for (const auto& one : jobs.at(0).nodes)
      if (one.node == node) return one.device;
    return node_counters::device_use{};
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(offload::sync(1, fn<&marked>, i), 2 * i + 1);
  EXPECT_TRUE(use_of(1).there);
  EXPECT_EQ(use_of(1).calls, 5U);
  kill_process_of(1);
  EXPECT_EQ(marked_again(1, 3), 7);
  const node_t process = offload::process_of(1);
  EXPECT_TRUE(use_of(process).there);
  EXPECT_GE(use_of(process).calls, 1U);
  EXPECT_GE(use_of(process).launches, 1U);
  EXPECT_TRUE(eventually([&] { return !use_of(process).resident; })) << "an idle device";
  EXPECT_FALSE(use_of(2).there);
}

}  // namespace
