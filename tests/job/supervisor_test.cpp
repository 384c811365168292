// Restarts, limits and ends of supervision, with processes that are only played.
#include "job/supervisor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>

#include "job/played.hpp"

namespace ham::inline v0::detail {
namespace {

using namespace ham::test;
using namespace std::chrono_literals;
using phase = replacements::phase;

template <class Done>
bool eventually(Done done) {
  for (int i = 0; i < 20'000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

class supervised_nodes : public testing::Test, protected process_starter {
 protected:
  supervised_nodes() { live(1); }
  ~supervised_nodes() override { supervisor_.stop(); }

  void live(node_t process) {
    static_cast<void>(host_->peers.grow_to(static_cast<std::size_t>(process) + 1));
    host_->locked([&] { host_->peers.claim(process)->state.store(peer_state::ready); });
  }
  void die(node_t process, const std::string& why) {
    host_->locked([&] {
      host_->peers[process].about.set_loss(why);
      host_->peers[process].state.store(peer_state::lost);
      supervisor_.on_lost(process, why);
    });
  }
  [[nodiscard]] phase now() const { return host_->numbers.of(1).now; }
  [[nodiscard]] bool is_up(node_t process) {
    return eventually([&] { return now() == phase::up && host_->numbers.of(1).process == process; });
  }

  // ---- process_starter
  node_t start_again(node_t number) override {
    ++starts_;
    EXPECT_TRUE(number == 1 || number == 7);
    EXPECT_TRUE(this_thread.only_receives && this_thread.leaves_continuations) << "what it ran might wait for it";
    if (before_start_) before_start_();
    if (fails_) throw config_error("no start of it (its program is gone)");
    const node_t process = next_++;
    live(process);
    return process;
  }
  void end(node_t process) noexcept override { ended_ = process; }
  void announce_numbers() noexcept override { ++announced_; }

  mutable lone_node host_{0, 2};
  std::atomic<int> starts_{0}, announced_{0};
  std::atomic<bool> fails_{false};
  std::function<void()> before_start_;
  std::atomic<node_t> next_{2}, ended_{-1};
  supervisor supervisor_{*host_, *this};
};

TEST_F(supervised_nodes, another_process_gets_the_number) {
  supervisor_.supervise(1, {});
  EXPECT_EQ(now(), phase::up);
  EXPECT_TRUE(supervisor_.supervises(1));
  die(1, "its process was killed");
  ASSERT_TRUE(is_up(2));
  die(2, "its process was killed again");
  ASSERT_TRUE(is_up(3));
  EXPECT_EQ(starts_, 2);
  EXPECT_GE(announced_, 3);
  EXPECT_EQ(host_->numbers.number_of(2), 1);
}

TEST_F(supervised_nodes, an_end_is_noticed_where_no_thread_makes_progress) {
  supervisor_.supervise(1, {});
  host_->events.on_died(1, "its process was killed");
  EXPECT_TRUE(eventually([&] { return !host_->events.pending(); }));
  EXPECT_TRUE(eventually([&] { return !host_->peers.is_ready(1); }));
}

TEST_F(supervised_nodes, others_are_left_alone) {
  live(2);
  next_ = 3;
  supervisor_.supervise(1, {});
  die(2, "it is nobody's");
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(starts_, 0);
  EXPECT_FALSE(supervisor_.supervises(2));
}

TEST_F(supervised_nodes, calls_wait_until_it_is_rebuilt) {
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

TEST_F(supervised_nodes, one_may_be_rebuilt_with_the_help_of_another) {
  live(7);
  next_ = 8;
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned&) {
    EXPECT_FALSE(this_thread.only_receives) << "it is code of the program";
    EXPECT_TRUE(eventually([&] { return host_->numbers.of(7).now == phase::up; }));
  };
  supervisor_.supervise(1, how);
  supervisor_.supervise(7, {});
  die(1, "both stumbled");
  die(7, "both stumbled");
  ASSERT_TRUE(eventually([&] { return now() == phase::up; }));
  EXPECT_EQ(starts_, 2);
}

TEST_F(supervised_nodes, what_cannot_be_rebuilt_is_ended_and_tried_again) {
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

TEST_F(supervised_nodes, one_that_dies_while_it_is_rebuilt_is_replaced) {
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned& fresh) {
    if (fresh.process == 2) die(2, "it stumbled at once");
  };
  supervisor_.supervise(1, how);
  die(1, "it stumbled");
  ASSERT_TRUE(is_up(3));
}

TEST_F(supervised_nodes, crash_loops_stop_with_the_reasons) {
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

TEST_F(supervised_nodes, the_reason_of_one_that_dies_while_it_is_rebuilt_is_listed) {
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

TEST_F(supervised_nodes, other_nodes_are_told_before_a_process_is_started) {
  std::atomic<int> told{0};
  supervisor_.supervise(1, {});
  before_start_ = [&] { told = announced_.load(); };
  const int before = announced_;
  die(1, "it stumbled");
  ASSERT_TRUE(is_up(2));
  EXPECT_GT(told, before);
}

TEST_F(supervised_nodes, one_that_is_released_is_not_tried_again) {
  fails_ = true;
  supervisor_.supervise(1, {.max_restarts = 1'000'000});
  die(1, "it stumbled");
  ASSERT_TRUE(eventually([&] { return starts_ >= 2; }));
  supervisor_.release(1);
  supervisor_.stop();
  EXPECT_FALSE(host_->numbers.any());
}

/// Asks the supervisor at its end, as the handles of a program do that a function of it holds.
class asks_at_its_end {
 public:
  explicit asks_at_its_end(const supervisor& of, std::atomic<int>& ends) : of_(of), ends_(ends) {}
  ~asks_at_its_end() {
    static_cast<void>(of_.supervises(1));
    ++ends_;
  }
  asks_at_its_end(const asks_at_its_end&) = delete;
  asks_at_its_end& operator=(const asks_at_its_end&) = delete;

 private:
  const supervisor& of_;
  std::atomic<int>& ends_;
};

TEST_F(supervised_nodes, what_a_function_holds_ends_without_a_lock) {
  std::atomic<int> ends{0};
  const auto holding = [&] {
    offload::supervision how;
    how.on_respawn = [held = std::make_shared<asks_at_its_end>(supervisor_, ends)](const offload::respawned&) {};
    return how;
  };
  supervisor_.supervise(1, holding());
  supervisor_.supervise(1, holding());
  EXPECT_EQ(ends, 1);
  supervisor_.release(1);
  EXPECT_EQ(ends, 2);
}

TEST_F(supervised_nodes, restarts_that_are_long_ago_do_not_count) {
  supervisor_.supervise(1, {.max_restarts = 1, .within = 1ns});
  for (node_t process = 1; process < 6; ++process) {
    die(process, "it stumbled");
    ASSERT_TRUE(is_up(process + 1));
  }
  EXPECT_EQ(starts_, 5);
}

TEST_F(supervised_nodes, one_that_was_given_up_starts_when_it_is_supervised_again) {
  supervisor_.supervise(1, {.max_restarts = 0});
  testing::internal::CaptureStderr();
  die(1, "it stumbled");
  ASSERT_TRUE(eventually([&] { return now() == phase::given_up; }));
  supervisor_.supervise(1, {});
  EXPECT_TRUE(is_up(2));
  static_cast<void>(testing::internal::GetCapturedStderr());
}

TEST_F(supervised_nodes, what_is_released_stays_dead) {
  supervisor_.supervise(1, {});
  die(1, "it stumbled");
  ASSERT_TRUE(is_up(2));
  EXPECT_EQ(supervisor_.release(1), 2);
  die(2, "it was removed");
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(starts_, 1);
  EXPECT_FALSE(host_->numbers.any());
  EXPECT_EQ(supervisor_.release(1), 1) << "nobody's any more";
}

TEST_F(supervised_nodes, one_that_has_died_before_is_started) {
  die(1, "too early");
  supervisor_.supervise(1, {});
  EXPECT_TRUE(is_up(2));
}

TEST_F(supervised_nodes, nothing_starts_when_the_job_ends) {
  supervisor_.supervise(1, {});
  supervisor_.end();
  die(1, "the job has ended");
  supervisor_.stop();
  EXPECT_EQ(starts_, 0);
  EXPECT_FALSE(host_->numbers.any()) << "nobody waits for it";
}

}  // namespace
}  // namespace ham::detail
