// Nodes come and go one change at a time; who makes one executes nothing meanwhile.
#include "job/sole_change.hpp"

#include <gtest/gtest.h>

#include <future>

#include "job/played.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

class sole_change_of_a_job : public testing::Test {
 protected:
  [[nodiscard]] static bool executes() { return !this_thread.only_receives && !this_thread.leaves_continuations; }

  lone_node host_;
  std::mutex one_at_a_time_;
};

TEST_F(sole_change_of_a_job, executes_neither_calls_nor_continuations) {
  ASSERT_TRUE(executes());
  {
    const sole_change change(*host_, one_at_a_time_);
    EXPECT_TRUE(this_thread.only_receives && this_thread.leaves_continuations);
  }
  EXPECT_TRUE(executes());
  sole_change change(*host_, one_at_a_time_);
  change.end();
  EXPECT_TRUE(executes()) << "the new nodes are told of the trace by calls";
  change.end();
  EXPECT_TRUE(executes());
}

TEST_F(sole_change_of_a_job, leaves_a_thread_as_it_was) {
  const receiving_thread role;
  { const sole_change change(*host_, one_at_a_time_); }
  EXPECT_FALSE(executes()) << "it is the supervisor's";
}

TEST_F(sole_change_of_a_job, begins_when_the_one_before_has_ended) {
  std::optional<sole_change> first(std::in_place, *host_, one_at_a_time_);
  std::promise<void> begins;
  std::atomic<bool> ended{false};
  auto second = std::async(std::launch::async, [&] {
    begins.set_value();
    const sole_change change(*host_, one_at_a_time_);
    EXPECT_TRUE(ended);
  });
  begins.get_future().get();
  ended = true;
  first->end();
  second.get();
}

TEST_F(sole_change_of_a_job, is_given_up_at_its_deadline) {
  const sole_change first(*host_, one_at_a_time_);
  auto second = std::async(std::launch::async, [&] {
    try {
      const sole_change change(*host_, one_at_a_time_, base::now_ns() + 1'000'000);
    } catch (const deadline_exceeded& late) {
      EXPECT_NE(std::string(late.what()).find("others are being added"), std::string::npos) << late.what();
      EXPECT_EQ(late.outcome(), call_outcome::not_run);
      return executes();
    }
    return false;
  });
  EXPECT_TRUE(second.get());
}

}  // namespace
}  // namespace ham::detail
