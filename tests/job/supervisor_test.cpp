// What is supervised, and until when, with processes that are only played.
#include "job/supervisor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "job/supervised_nodes.hpp"

namespace ham::test {
namespace {

using supervised_numbers = supervised_nodes;

TEST_F(supervised_numbers, another_process_gets_the_number) {
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

TEST_F(supervised_numbers, an_end_is_noticed_where_no_thread_makes_progress) {
  supervisor_.supervise(1, {});
  host_->events.on_died(1, "its process was killed");
  EXPECT_TRUE(eventually([&] { return !host_->events.pending(); }));
  EXPECT_TRUE(eventually([&] { return !host_->peers.is_ready(1); }));
}

TEST_F(supervised_numbers, others_are_left_alone) {
  live(2);
  next_ = 3;
  supervisor_.supervise(1, {});
  die(2, "it is nobody's");
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(starts_, 0);
  EXPECT_FALSE(supervisor_.supervises(2));
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

TEST_F(supervised_numbers, what_a_function_holds_ends_without_a_lock) {
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

TEST_F(supervised_numbers, one_that_was_given_up_starts_when_it_is_supervised_again) {
  supervisor_.supervise(1, {.max_restarts = 0});
  testing::internal::CaptureStderr();
  die(1, "it stumbled");
  ASSERT_TRUE(eventually([&] { return now() == phase::given_up; }));
  supervisor_.supervise(1, {});
  EXPECT_TRUE(is_up(2));
  static_cast<void>(testing::internal::GetCapturedStderr());
}

TEST_F(supervised_numbers, the_process_of_one_that_was_given_up_is_ended) {
  supervisor_.supervise(1, {.max_restarts = 0});
  testing::internal::CaptureStderr();
  die(1, "its connection broke");
  EXPECT_TRUE(eventually([&] { return ended_lost_ == 1; })) << "only the connection to it was lost";
  EXPECT_EQ(now(), phase::given_up);
  static_cast<void>(testing::internal::GetCapturedStderr());
}

TEST_F(supervised_numbers, what_is_released_stays_dead) {
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

TEST_F(supervised_numbers, one_that_has_died_before_is_started) {
  die(1, "too early");
  supervisor_.supervise(1, {});
  EXPECT_TRUE(is_up(2));
}

TEST_F(supervised_numbers, nothing_starts_when_the_job_ends) {
  supervisor_.supervise(1, {});
  supervisor_.end();
  die(1, "the job has ended");
  supervisor_.stop();
  EXPECT_EQ(starts_, 0);
  EXPECT_NE(now(), phase::restarting) << "nobody waits for it";
}

class prepared_numbers : public supervised_nodes {
 protected:
  /// Runs `meanwhile` while a process of node 1 is prepared; what the number is to who prepares it afterwards.
  replacements::state prepare_beside(const std::function<void()>& meanwhile) {
    std::atomic<bool> prepares{false}, go{false};
    std::atomic<bool> known{false};
    replacements::state seen;
    offload::supervision how;
    how.on_respawn = [&](const offload::respawned& fresh) {
      prepares = true;
      EXPECT_TRUE(eventually([&] { return go.load(); }));
      known = host_->numbers.any();  // else nobody asks the table
      seen = host_->numbers.of(fresh.node);
    };
    supervisor_.supervise(1, how);
    die(1, "it stumbled");
    EXPECT_TRUE(eventually([&] { return prepares.load(); }));
    meanwhile();
    go = true;
    supervisor_.stop();
    EXPECT_TRUE(known);
    return seen;
  }
};

TEST_F(prepared_numbers, on_respawn_calls_by_number_while_the_job_ends) {
  const replacements::state seen = prepare_beside([&] {
    supervisor_.end();
    const replacements::state others = host_->numbers.of(1);
    EXPECT_EQ(others.now, phase::given_up);
    EXPECT_NE(others.reason.find("its job ends"), std::string::npos) << others.reason;
  });
  EXPECT_EQ(seen.process, 2);
  EXPECT_TRUE(seen.prepared);
}

TEST_F(prepared_numbers, on_respawn_calls_by_number_while_it_is_removed) {
  const replacements::state seen = prepare_beside([&] {
    EXPECT_EQ(supervisor_.release(1), 2);
    const replacements::state others = host_->numbers.of(1);
    EXPECT_EQ(others.now, phase::given_up);
    EXPECT_NE(others.reason.find("was removed"), std::string::npos) << others.reason;
  });
  EXPECT_EQ(seen.process, 2);
  EXPECT_FALSE(host_->numbers.any()) << "of what is removed nothing is kept";
}

}  // namespace
}  // namespace ham::test
