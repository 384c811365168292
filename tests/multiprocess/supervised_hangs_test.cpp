// Supervised nodes that hang are ended, by the watchdog or by kill_call; those that work are not.
// link: ham::ham
// timeout: 300
// serial: no
#include "ham/offload/graph.hpp"
#include "some_attempt.hpp"
#include "supervised_node.hpp"

#include <algorithm>

using namespace ham;
using namespace ham::test;
using offload::event;
using offload::event_kind;

namespace {

void hang() {
  for (;;) std::this_thread::sleep_for(1s);
}
void work(int ms, bool beats) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (std::chrono::steady_clock::now() < until) {
    if (beats) this_call::heartbeat();
    std::this_thread::sleep_for(1ms);
  }
}
int hang_in_stage() {
  hang();
  return 0;
}
/// Calls node 1 from where it runs. How that has failed.
std::string failure_of_hang() {
  return message_of<node_failure>([] { offload::sync(1, fn<&hang>); });
}
void make_work(int ms) { offload::sync(1, fn<&work>, ms, true); }
int count_slowly(int value) {
  std::this_thread::sleep_for(10ms);
  return value + 1;
}
bool is_500(int value) { return value == 500; }

/// Whether node 1 of a new job has the same process before and after: a busy machine may give it no core for long.
template <class What>
bool keeps_its_process(const std::string& list, What what) {
  return in_some_attempt([&] {
    runtime rt(nodes(list));
    try {
      const pid_t before = offload::sync(1, fn<&my_pid>);
      what();
      return offload::sync(1, fn<&my_pid>) == before;
    } catch (const error&) {
      return false;
    }
  });
}

/// Without a call: node 1 has another process soon.
bool is_replaced() {
  for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;) {
    if (offload::process_of(1) != 1) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(supervised_hangs, a_node_that_hangs_is_ended_and_started_again) {
  std::vector<event> seen;  // outlives the runtime, which may have some to tell at its end
  runtime rt(nodes("shm:2"));
  offload::on_event([&](const event& what) { seen.push_back(what); });
  offload::supervise(1, {.hang_after = 2s});  // the next process must answer in that time
  testing::internal::CaptureStderr();
  const pid_t before = offload::sync(1, fn<&my_pid>);
  EXPECT_THROW(offload::sync(1, fn<&hang>), node_failure);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("hang() for 2 s; its process is ended"), std::string::npos) << said;
  EXPECT_NE(offload::sync(1, fn<&my_pid>), before);
  const auto is_hang = [](const event& one) { return one.kind == event_kind::hang && one.node == 1; };
  EXPECT_EQ(std::count_if(seen.begin(), seen.end(), is_hang), 1);
  offload::sync(2, fn<&work>, 3000, false);  // nobody watches this one
}

TEST(supervised_hangs, a_node_that_works_is_not_ended) {
  EXPECT_TRUE(keeps_its_process("shm:1", [] {
    offload::supervise(1, {.hang_after = 2s});  // all that takes less may take longer on a busy machine
    offload::sync(1, fn<&work>, 3000, true);    // heartbeats
    std::vector<offload::future<void>> many;
    for (int i = 0; i < 12; ++i) many.push_back(offload::async(1, fn<&work>, 250, false));
    for (auto& one : many) one.get();  // each answers in time
    std::this_thread::sleep_for(3s);   // idle
  }));
}

TEST(supervised_hangs, a_call_that_nobody_waits_for_hangs_too) {
  runtime rt(nodes("shm:1"));
  const pid_t before = offload::sync(1, fn<&my_pid>);
  offload::supervise(1, {.hang_after = 300ms});
  testing::internal::CaptureStderr();
  const auto pid_now = [] {
    for (const auto until = std::chrono::steady_clock::now() + 60s;;) {
      try {
        return offload::sync(1, fn<&my_pid>);
      } catch (const node_failure&) {  // it was sent to the one that hangs
        if (std::chrono::steady_clock::now() > until) throw;
      }
    }
  };
  pid_t after = before;
  for (auto deadline = 50ms; after == before && deadline < 20s; deadline *= 2) {  // it may not have begun before
    try {
      offload::sync(offload::within(1, deadline), fn<&hang>);
      ADD_FAILURE() << "it has returned";
    } catch (const deadline_exceeded&) {
    } catch (const node_failure&) {  // where the deadline is later than the end of the process
    }
    after = pid_now();
  }
  EXPECT_NE(after, before);
  static_cast<void>(testing::internal::GetCapturedStderr());
}

TEST(supervised_hangs, a_process_that_hangs_in_a_call_of_another_node_is_ended) {
  std::vector<event> seen;  // outlives the runtime, which may have some to tell at its end
  runtime rt(nodes("shm:2"));
  offload::on_event([&](const event& what) { seen.push_back(what); });
  offload::supervise(1, {.hang_after = 2s});  // all that takes less may take longer on a busy machine
  testing::internal::CaptureStderr();
  auto failure = offload::async(2, fn<&failure_of_hang>);
  ASSERT_TRUE(failure.wait_for(60s));
  EXPECT_NE(failure.get(), "");
  EXPECT_TRUE(is_replaced());
  const std::string said = testing::internal::GetCapturedStderr();
  const auto is_hang = [](const event& one) { return one.kind == event_kind::hang && one.node == 1; };
  const auto is_told = [&] {  // by a thread that makes progress
    offload::sync(2, fn<&my_pid>);
    return std::any_of(seen.begin(), seen.end(), is_hang);
  };
  ASSERT_TRUE(eventually(is_told));
  const auto told = std::find_if(seen.begin(), seen.end(), is_hang);
  EXPECT_NE(told->reason.find("has begun no call for 2 s; it was executing"), std::string::npos) << told->reason;
  EXPECT_NE(told->reason.find("hang() for "), std::string::npos) << told->reason;
  EXPECT_EQ(said.find("supervisor"), std::string::npos) << said;
}

TEST(supervised_hangs, a_process_that_hangs_in_a_ping_is_ended) {
  runtime rt(nodes("shm:1"));
  offload::supervise(1, {.hang_after = 500ms});
  testing::internal::CaptureStderr();
  offload::ping(1, fn<&hang>);
  EXPECT_TRUE(is_replaced());
  static_cast<void>(testing::internal::GetCapturedStderr());
}

TEST(supervised_hangs, a_process_that_hangs_in_a_stage_of_a_graph_is_ended) {
  runtime rt(nodes("shm:2"));
  offload::graph g;
  auto begun = g.call(2, fn<&my_pid>);
  auto step = g.compile(g.call(1, fn<&hang_in_stage>).after(begun));
  offload::supervise(1, {.hang_after = 500ms});
  testing::internal::CaptureStderr();
  auto replay = step();
  ASSERT_TRUE(replay.wait_for(60s));
  EXPECT_THROW(replay.get(), node_failure);
  static_cast<void>(testing::internal::GetCapturedStderr());
}

TEST(supervised_hangs, a_process_that_works_for_others_is_not_ended) {
  EXPECT_TRUE(keeps_its_process("shm:2", [] {
    offload::graph g;
    auto counted = g.repeat(
        0, [&](offload::graph_value<int> value) { return g.call(1, fn<&count_slowly>, value); }, fn<&is_500>);
    auto step = g.compile(counted);
    offload::supervise(1, {.hang_after = 2s});
    offload::sync(2, fn<&make_work>, 5000);  // heartbeats
    EXPECT_EQ(step().get(), 500);            // 5 s and more: each iteration is one
  }));
}

TEST(supervised_hangs, a_process_that_hangs_while_it_is_prepared_has_one_reason) {
  runtime rt(nodes("shm:1"));
  int prepared = 0;
  const auto prepare = [&](const offload::respawned& fresh) {
    if (++prepared == 1) offload::sync(fresh.node, fn<&hang>);
  };
  offload::supervise(1, {.max_restarts = 2, .hang_after = 2s, .on_respawn = prepare});
  testing::internal::CaptureStderr();
  kill_node(1);
  offload::sync(1, fn<&my_pid>);  // of the second attempt
  EXPECT_EQ(prepared, 2);
  kill_node(1);
  const std::string why = message_of<node_failure>([] { offload::sync(1, fn<&my_pid>); });
  static_cast<void>(testing::internal::GetCapturedStderr());
  EXPECT_NE(why.find("2. it hung: no answer to"), std::string::npos) << why;
  EXPECT_NE(why.find("3. "), std::string::npos) << why;
  EXPECT_EQ(why.find("4. "), std::string::npos) << why;
}

TEST(supervised_hangs, a_call_whose_process_is_killed_leaves_the_number_to_the_next_one) {
  runtime rt(nodes("shm:1"));
  offload::supervise(1);
  for (int round = 0; round < 2; ++round) {
    const pid_t before = offload::sync(1, fn<&my_pid>);
    auto call = offload::async(1, fn<&hang>);
    EXPECT_TRUE(offload::kill_call(call));
    EXPECT_THROW(call.get(), node_failure);
    EXPECT_NE(offload::sync(1, fn<&my_pid>), before);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
