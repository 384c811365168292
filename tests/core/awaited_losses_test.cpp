// What waits for the loss of a process becomes due once: by the loss, by its time, or by the end of the node.
#include "core/awaited_losses.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ham::inline v1::detail {
namespace {

class losses : public testing::Test {
 protected:
  static continuation nothing() {
    return {[](continuation*) {}};
  }

  ready_queue due_;
  awaited_losses all_{due_};
};

TEST_F(losses, are_told_to_who_waits_for_that_process) {
  continuation first = nothing();
  continuation second = nothing();
  continuation other = nothing();
  all_.add(1, &first, 500);
  all_.add(2, &other, 300);
  all_.add(1, &second, 400);
  all_.lost(3);
  EXPECT_TRUE(due_.empty());
  EXPECT_EQ(all_.next_ns(), 300);
  all_.lost(1);
  EXPECT_EQ(due_.pop(), &first);
  EXPECT_EQ(due_.pop(), &second);
  EXPECT_EQ(due_.pop(), nullptr);
  all_.lost(1);
  EXPECT_TRUE(due_.empty()) << "once";
  all_.lost(2);
  EXPECT_EQ(due_.pop(), &other);
  EXPECT_EQ(all_.next_ns(), base::never_ns);
}

TEST_F(losses, that_do_not_come_are_waited_for_until_the_time_of_each) {
  continuation early = nothing();
  continuation late = nothing();
  all_.add(1, &late, 200);
  all_.add(1, &early, 100);
  EXPECT_EQ(all_.next_ns(), 100);
  all_.expire(99);
  EXPECT_TRUE(due_.empty());
  all_.expire(100);
  EXPECT_EQ(due_.pop(), &early);
  EXPECT_EQ(due_.pop(), nullptr);
  EXPECT_EQ(all_.next_ns(), 200);
  all_.lost(1);
  EXPECT_EQ(due_.pop(), &late);
  EXPECT_EQ(all_.next_ns(), base::never_ns);
}

TEST_F(losses, are_waited_for_by_nobody_when_the_node_ends) {
  continuation one = nothing();
  continuation other = nothing();
  all_.add(1, &one, 100);
  all_.add(2, &other, base::never_ns);
  all_.expire_all();
  EXPECT_EQ(due_.pop(), &one);
  EXPECT_EQ(due_.pop(), &other);
  all_.expire_all();
  EXPECT_TRUE(due_.empty());
}

TEST_F(losses, of_the_parent_are_not_waited_for_in_a_child) {
  continuation one = nothing();
  all_.add(1, &one, 100);
  const pid_t child = ::fork();
  if (child == 0) {
    all_.detach_after_fork();
    const bool waits = all_.next_ns() != base::never_ns;
    all_.lost(1);
    all_.expire_all();
    ::_exit(!waits && due_.empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ham::detail
