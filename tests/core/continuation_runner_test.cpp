// Continuations: run by whom, how deep, and in what order.
#include "core/continuation_runner.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

namespace continuation_runner_test {

using namespace ham;
using detail::this_thread;
using detail::thread_state;

struct task : detail::continuation {
  std::function<void()> body;
};

class continuation_runner : public testing::Test {
 protected:
  static constexpr std::size_t most = 600;

  continuation_runner() {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      tasks_[i].run = [](detail::continuation* self) { static_cast<task*>(self)->body(); };
      tasks_[i].body = [this, i] { run_.push_back(i); };
    }
  }
  ~continuation_runner() override { this_thread.depth = 0; }

  std::vector<std::size_t> run_;
  std::array<task, most> tasks_{};
  detail::ready_queue due_;
  detail::continuation_runner runner_{nullptr, due_};
  using numbers = std::vector<std::size_t>;
};

TEST_F(continuation_runner, runs_what_is_due_in_order) {
  EXPECT_FALSE(runner_.due());
  EXPECT_FALSE(runner_.run());
  for (std::size_t i = 0; i < 3; ++i) due_.push(&tasks_[i]);
  EXPECT_TRUE(runner_.may_run());
  EXPECT_TRUE(runner_.run());
  EXPECT_EQ(run_, numbers({0, 1, 2}));
  EXPECT_FALSE(runner_.due());
}

TEST_F(continuation_runner, a_thread_may_leave_them_to_others) {
  due_.push(&tasks_[0]);
  this_thread.leaves_continuations = true;
  EXPECT_FALSE(runner_.may_run());
  EXPECT_FALSE(runner_.run());
  runner_.run_settled();
  EXPECT_TRUE(run_.empty());
  EXPECT_TRUE(runner_.due());
  this_thread.leaves_continuations = false;
  EXPECT_TRUE(runner_.run());
  EXPECT_EQ(run_, numbers({0}));
}

TEST_F(continuation_runner, each_counts_as_a_call) {
  tasks_[0].body = [this] { run_.push_back(this_thread.depth); };
  due_.push(&tasks_[0]);
  EXPECT_TRUE(runner_.run());
  EXPECT_EQ(run_, numbers({1}));
  EXPECT_EQ(this_thread.depth, 0U);
}

TEST_F(continuation_runner, what_settles_meanwhile_comes_next_at_the_same_depth) {
  for (std::size_t i = 0; i + 1 < most; ++i) {
    tasks_[i].body = [this, i] {
      run_.push_back(this_thread.depth);
      due_.push(&tasks_[i + 1]);
      runner_.run_settled();
    };
  }
  tasks_[most - 1].body = [this] { run_.push_back(this_thread.depth); };
  due_.push(&tasks_[0]);
  runner_.run_settled();
  EXPECT_EQ(run_, numbers(most, 1)) << "a chain of any length takes no stack";
}

TEST_F(continuation_runner, one_that_waits_runs_others) {
  tasks_[0].body = [this] {
    due_.push(&tasks_[1]);
    EXPECT_TRUE(runner_.run());  // as whoever makes progress does
    run_.push_back(0);
  };
  due_.push(&tasks_[0]);
  EXPECT_TRUE(runner_.run());
  EXPECT_EQ(run_, numbers({1, 0}));
}

TEST_F(continuation_runner, queues_of_two_nodes_do_not_wait_for_each_other) {
  detail::ready_queue others;
  detail::continuation_runner other{nullptr, others};
  tasks_[0].body = [&] {
    others.push(&tasks_[1]);
    other.run_settled();
    run_.push_back(0);
  };
  due_.push(&tasks_[0]);
  EXPECT_TRUE(runner_.run());
  EXPECT_EQ(run_, numbers({1, 0}));
}

TEST_F(continuation_runner, none_runs_where_calls_are_nested_too_deep_but_one_that_must) {
  this_thread.depth = thread_state::max_depth;
  for (std::size_t i = 0; i < 2; ++i) due_.push(&tasks_[i]);
  EXPECT_FALSE(runner_.may_run());
  EXPECT_FALSE(runner_.run());
  runner_.run_settled();
  EXPECT_EQ(run_, numbers());
  EXPECT_TRUE(runner_.run_one());
  EXPECT_EQ(run_, numbers({0}));
  EXPECT_EQ(this_thread.depth, thread_state::max_depth);
  EXPECT_TRUE(runner_.due());
}

TEST_F(continuation_runner, one_may_execute_calls_on_a_thread_that_only_receives) {
  this_thread.only_receives = true;
  tasks_[0].body = [] { EXPECT_FALSE(this_thread.only_receives); };
  due_.push(&tasks_[0]);
  EXPECT_TRUE(runner_.run());
  EXPECT_TRUE(this_thread.only_receives);
  this_thread.only_receives = false;
}

}  // namespace continuation_runner_test
