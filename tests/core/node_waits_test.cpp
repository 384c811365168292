// What waits for something of a node becomes due once: when it happens, by its time, or by the end of all.
#include "core/node_waits.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ham::inline v1::detail {
namespace {

class waits : public testing::Test {
 protected:
  static continuation nothing() {
    return {[](continuation*) {}};
  }

  ready_queue due_;
  node_waits all_{&due_};
};

TEST_F(waits, end_for_those_of_that_node) {
  continuation first = nothing();
  continuation second = nothing();
  continuation other = nothing();
  all_.add(1, &first, 500);
  all_.add(2, &other, 300);
  all_.add(1, &second, 400);
  all_.release(3);
  EXPECT_TRUE(due_.empty());
  EXPECT_EQ(all_.next_ns(), 300);
  all_.release(1);
  EXPECT_EQ(due_.pop(), &first);
  EXPECT_EQ(due_.pop(), &second);
  EXPECT_EQ(due_.pop(), nullptr);
  all_.release(1);
  EXPECT_TRUE(due_.empty()) << "once";
  all_.release(2);
  EXPECT_EQ(due_.pop(), &other);
  EXPECT_EQ(all_.next_ns(), base::never_ns);
}

TEST_F(waits, end_at_the_time_of_each) {
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
  all_.release(1);
  EXPECT_EQ(due_.pop(), &late);
  EXPECT_EQ(all_.next_ns(), base::never_ns);
}

TEST_F(waits, all_end_at_once) {
  continuation one = nothing();
  continuation other = nothing();
  all_.add(1, &one, 100);
  all_.add(2, &other, base::never_ns);
  all_.release_all();
  EXPECT_EQ(due_.pop(), &one);
  EXPECT_EQ(due_.pop(), &other);
  all_.release_all();
  EXPECT_TRUE(due_.empty());
}

TEST_F(waits, of_the_parent_are_not_those_of_a_child) {
  continuation one = nothing();
  all_.add(1, &one, 100);
  const pid_t child = ::fork();
  if (child == 0) {
    all_.detach_after_fork();
    const bool waits = all_.next_ns() != base::never_ns;
    all_.release(1);
    all_.release_all();
    ::_exit(!waits && due_.empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ham::detail
