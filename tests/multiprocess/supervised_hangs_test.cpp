// Supervised nodes that hang are ended, by the watchdog or by kill_call; those that work are not.
// link: ham::ham
// timeout: 300
// serial: no
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

TEST(supervised_hangs, a_node_that_hangs_is_ended_and_started_again) {
  runtime rt(nodes("shm:2"));
  std::vector<event> seen;
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
  runtime rt(nodes("shm:1"));
  offload::supervise(1, {.hang_after = 2s});  // all that takes less may take longer on a busy machine
  const pid_t before = offload::sync(1, fn<&my_pid>);
  offload::sync(1, fn<&work>, 3000, true);  // heartbeats
  std::vector<offload::future<void>> many;
  for (int i = 0; i < 12; ++i) many.push_back(offload::async(1, fn<&work>, 250, false));
  for (auto& one : many) one.get();  // each answers in time
  std::this_thread::sleep_for(3s);   // idle
  EXPECT_EQ(offload::sync(1, fn<&my_pid>), before);
}

TEST(supervised_hangs, a_call_that_nobody_waits_for_hangs_too) {
  runtime rt(nodes("shm:1"));
  offload::supervise(1, {.hang_after = 300ms});
  testing::internal::CaptureStderr();
  const pid_t before = offload::sync(1, fn<&my_pid>);
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

TEST(supervised_hangs, a_process_that_hangs_while_it_is_prepared_has_one_reason) {
  runtime rt(nodes("shm:1"));
  int prepared = 0;
  const auto prepare = [&](const offload::respawned& fresh) {
    if (++prepared == 1) offload::sync(fresh.node, fn<&hang>);
  };
  offload::supervise(1, {.max_restarts = 2, .hang_after = 300ms, .on_respawn = prepare});
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
