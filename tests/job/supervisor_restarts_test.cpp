// Restarts and their limits, with processes that are only played.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "job/supervised_nodes.hpp"

namespace ham::test {
namespace {

using supervisor_restarts = supervised_nodes;

TEST_F(supervisor_restarts, calls_wait_until_it_is_rebuilt) {
  std::atomic<bool> go{false};
  offload::respawned seen;
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned& fresh) {
    seen = fresh;
    EXPECT_EQ(host_->numbers.of(1).now, phase::up) << "for this thread";
    while (!go) std::this_thread::sleep_for(1ms);
  };
  supervisor_.supervise(1, how);
  die(1, "it stumbled");
  ASSERT_TRUE(eventually([&] { return starts_ == 1; }));
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(now(), phase::restarting);
  go = true;
  ASSERT_TRUE(is_up(2));
  EXPECT_EQ(seen.node, 1);
  EXPECT_EQ(seen.process, 2);
  EXPECT_EQ(seen.epoch, 1U);
  EXPECT_EQ(seen.reason, "it stumbled");
}

TEST_F(supervisor_restarts, one_may_be_rebuilt_with_the_help_of_another) {
  live(7);
  next_ = 8;
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned&) {
    EXPECT_TRUE(this_thread.only_receives) << "what it executed would reach a process that is not prepared";
    EXPECT_TRUE(eventually([&] { return host_->numbers.of(7).now == phase::up; }));
  };
  supervisor_.supervise(1, how);
  supervisor_.supervise(7, {});
  die(1, "both stumbled");
  die(7, "both stumbled");
  ASSERT_TRUE(eventually([&] { return now() == phase::up; }));
  EXPECT_EQ(starts_, 2);
}

TEST_F(supervisor_restarts, what_cannot_be_rebuilt_is_ended_and_tried_again) {
  int tries = 0;
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned&) {
    if (++tries == 1) throw std::runtime_error("no data to fill it with");
  };
  supervisor_.supervise(1, how);
  die(1, "it stumbled");
  ASSERT_TRUE(is_up(3));
  EXPECT_EQ(ended_, 2);
}

TEST_F(supervisor_restarts, one_that_dies_while_it_is_rebuilt_is_replaced) {
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned& fresh) {
    if (fresh.process == 2) die(2, "it stumbled at once");
  };
  supervisor_.supervise(1, how);
  die(1, "it stumbled");
  ASSERT_TRUE(is_up(3));
}

TEST_F(supervisor_restarts, crash_loops_stop_with_the_reasons) {
  fails_ = true;
  testing::internal::CaptureStderr();
  supervisor_.supervise(1, {.max_restarts = 3, .within = 60s});
  die(1, "its process was killed by signal 11");
  ASSERT_TRUE(eventually([&] { return now() == phase::given_up; }));
  supervisor_.stop();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(starts_, 3);
  EXPECT_NE(said.find("node 1 is given up"), std::string::npos) << said;
  EXPECT_NE(said.find("3 times within 60 s"), std::string::npos) << said;
  EXPECT_NE(said.find("1. its process was killed by signal 11; 2. no start of it"), std::string::npos) << said;
}

TEST_F(supervisor_restarts, the_reason_of_one_that_dies_while_it_is_rebuilt_is_listed) {
  offload::supervision how{.max_restarts = 1};
  how.on_respawn = [&](const offload::respawned& fresh) { die(fresh.process, "it stumbled over its data"); };
  testing::internal::CaptureStderr();
  supervisor_.supervise(1, how);
  die(1, "it stumbled");
  ASSERT_TRUE(eventually([&] { return now() == phase::given_up; }));
  const std::string said = host_->numbers.of(1).reason;
  EXPECT_NE(said.find("it died while it was prepared: it stumbled over its data"), std::string::npos) << said;
  supervisor_.stop();
  static_cast<void>(testing::internal::GetCapturedStderr());
}

TEST_F(supervisor_restarts, other_nodes_are_told_before_a_process_is_started) {
  std::atomic<int> told{0};
  supervisor_.supervise(1, {});
  before_start_ = [&] { told = announced_.load(); };
  const int before = announced_;
  die(1, "it stumbled");
  ASSERT_TRUE(is_up(2));
  EXPECT_GT(told, before);
}

TEST_F(supervisor_restarts, one_that_is_released_is_not_tried_again) {
  fails_ = true;
  supervisor_.supervise(1, {.max_restarts = 1'000'000});
  die(1, "it stumbled");
  ASSERT_TRUE(eventually([&] { return starts_ >= 2; }));
  supervisor_.release(1);
  supervisor_.stop();
  EXPECT_FALSE(host_->numbers.any());
}

TEST_F(supervisor_restarts, restarts_that_are_long_ago_do_not_count) {
  supervisor_.supervise(1, {.max_restarts = 1, .within = 1ns});
  for (node_t process = 1; process < 6; ++process) {
    die(process, "it stumbled");
    ASSERT_TRUE(is_up(process + 1));
  }
  EXPECT_EQ(starts_, 5);
}

}  // namespace
}  // namespace ham::test
