// Outcomes on their way to the thread that polls.
#include "core/settled_queue.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace ham::inline v1::detail {
namespace {

TEST(settled_queue, gives_each_outcome_once_in_order) {
  settled_queue queue;
  call_slot slots[3];
  std::vector<std::pair<call_slot*, slot_state>> seen;
  const auto settle = [&](call_slot& slot, slot_state outcome) { seen.emplace_back(&slot, outcome); };
  EXPECT_FALSE(queue.settle_all(settle));
  ASSERT_TRUE(queue.add(slots[2], slot_state::failed));
  ASSERT_TRUE(queue.add(slots[0], slot_state::value));
  EXPECT_TRUE(queue.settle_all(settle));
  EXPECT_EQ(seen, (std::vector<std::pair<call_slot*, slot_state>>{{&slots[2], slot_state::failed},
                                                                  {&slots[0], slot_state::value}}));
  EXPECT_FALSE(queue.settle_all(settle));
}

TEST(settled_queue, settling_may_add) {
  settled_queue queue;
  call_slot first, second;
  int settled = 0;
  ASSERT_TRUE(queue.add(first, slot_state::value));
  queue.settle_all([&](call_slot&, slot_state) {
    ++settled;
    EXPECT_TRUE(queue.add(second, slot_state::value));
  });
  EXPECT_EQ(settled, 1);
  EXPECT_TRUE(queue.settle_all([&](call_slot& slot, slot_state) { settled += &slot == &second ? 1 : 0; }));
  EXPECT_EQ(settled, 2);
}

TEST(settled_queue, a_child_after_fork_has_none_of_it) {
  settled_queue queue;
  call_slot slot;
  ASSERT_TRUE(queue.add(slot, slot_state::value));
  const auto ignore = [](call_slot&, slot_state) {};
  const pid_t child = ::fork();
  if (child == 0) {
    queue.detach_after_fork();
    ::_exit(queue.settle_all(ignore) ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(queue.settle_all(ignore)) << "the parent has it";
}

TEST(settled_queue, from_several_threads) {
  settled_queue queue;
  std::vector<call_slot> slots(2);
  std::vector<std::thread> threads;
  constexpr int each = 1000;
  for (call_slot& slot : slots) {
    threads.emplace_back([&queue, &slot] {
      for (int i = 0; i < each; ++i) EXPECT_TRUE(queue.add(slot, slot_state::value));
    });
  }
  int settled = 0;
  while (settled < 2 * each) queue.settle_all([&](call_slot&, slot_state) { ++settled; });
  for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace ham::detail
