// Which calls the future of a group stands for.
#include "runtime/group_calls.hpp"

#include <gtest/gtest.h>

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

}  // namespace group_calls_test
