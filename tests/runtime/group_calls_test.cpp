// Which calls the future of a group stands for.
#include "runtime/group_calls.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "ham/offload/group.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"

using namespace ham;
using namespace ham::detail;

namespace group_calls_test {

TEST(started_groups, knows_the_calls_of_a_future_until_it_has_its_answers) {
  started_groups all;
  call_slot first;
  call_slot second;
  EXPECT_EQ(all.parts_of(first).count, 0U);
  all.add(first, {{7, 8}, 2});
  all.add(second, {{9}, 1});
  ASSERT_EQ(all.parts_of(first).count, 2U);
  EXPECT_EQ(all.parts_of(first).calls[1], 8U);
  all.remove(first);
  EXPECT_EQ(all.parts_of(first).count, 0U);
  ASSERT_EQ(all.parts_of(second).count, 1U);
  EXPECT_EQ(all.parts_of(second).calls[0], 9U);
}

TEST(started_groups, takes_a_slot_that_is_used_again) {
  started_groups all;
  call_slot slot;
  all.add(slot, {{1, 2, 3}, 3});
  all.remove(slot);
  all.remove(slot);
  all.add(slot, {{4}, 1});
  EXPECT_EQ(all.parts_of(slot).count, 1U);
}

TEST(started_groups, a_call_that_passes_nothing_on_is_told_apart) {
  const call_slot plain{};
  EXPECT_FALSE(is_passed_on(plain));
}

std::atomic<bool> gate{false};
void wait_for_gate() {
  while (!gate) std::this_thread::yield();
}

TEST(group_calls, the_call_of_a_node_that_waits_for_those_behind_it_is_left_out) {
  static_assert(group_part_size(9, 0) == 2 && group_part_size(9, 1) == 1);
  const runtime job(test::loopback(9));
  engine& at = current();
  gate = false;
  const offload::group all;
  auto answers = offload::async_all(all, fn<&wait_for_gate>);
  const auto oldest = [&at](node_t node, bool (*left_out)(const call_slot&) noexcept) {
    at.waits.lock();
    call_slot* const found = at.calls.oldest_to(node, left_out);
    at.waits.unlock();
    return found;
  };
  const auto none = [](const call_slot&) noexcept { return false; };
  EXPECT_NE(oldest(1, none), nullptr);
  EXPECT_EQ(oldest(1, &waits_for_others), nullptr) << "node 2 is behind it";
  EXPECT_NE(oldest(3, &waits_for_others), nullptr) << "it answers for itself alone";
  gate = true;
  answers.get().values();
}

}  // namespace group_calls_test
