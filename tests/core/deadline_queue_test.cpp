#include "core/deadline_queue.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ham::inline v1::detail {
namespace {

constexpr auto none_is_over = [](std::uint32_t) { return false; };

std::vector<std::uint32_t> all_due(deadline_queue& queue, std::int64_t now_ns) {
  std::vector<std::uint32_t> calls;
  while (const auto call = queue.pop_due(now_ns)) calls.push_back(*call);
  return calls;
}

TEST(deadline_queue, has_nothing_due_while_it_is_empty) {
  deadline_queue queue;
  EXPECT_EQ(queue.next_ns(), base::never_ns);
  EXPECT_FALSE(queue.pop_due(base::never_ns - 1));
  EXPECT_FALSE(queue.unlisted_due(base::never_ns - 1));
}

TEST(deadline_queue, gives_calls_in_the_order_of_their_deadlines) {
  deadline_queue queue;
  queue.add(1, 300, none_is_over);
  queue.add(2, 100, none_is_over);
  queue.add(3, 200, none_is_over);
  EXPECT_EQ(queue.next_ns(), 100);
  EXPECT_EQ(all_due(queue, 250), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(queue.next_ns(), 300);
  EXPECT_TRUE(all_due(queue, 299).empty());
  EXPECT_EQ(all_due(queue, 300), std::vector<std::uint32_t>{1});
  EXPECT_EQ(queue.next_ns(), base::never_ns);
}

TEST(deadline_queue, says_when_a_sleeper_must_get_up_sooner) {
  deadline_queue queue;
  EXPECT_TRUE(queue.add(1, 200, none_is_over));
  EXPECT_FALSE(queue.add(2, 200, none_is_over));
  EXPECT_FALSE(queue.add(3, 300, none_is_over));
  EXPECT_TRUE(queue.add(4, 100, none_is_over));
}

TEST(deadline_queue, drops_calls_that_have_settled_when_there_are_many) {
  deadline_queue queue;
  for (std::uint32_t call = 0; call < 10'000; ++call) queue.add(call, 1000 + call, [](std::uint32_t) { return true; });
  EXPECT_LE(queue.listed(), 64U);
}

TEST(deadline_queue, keeps_calls_that_are_pending_however_many) {
  deadline_queue queue;
  std::size_t asked = 0;
  for (std::uint32_t call = 0; call < 10'000; ++call) {
    queue.add(call, 1000 + call, [&](std::uint32_t) {
      ++asked;
      return false;
    });
  }
  EXPECT_EQ(queue.listed(), 10'000U);
  EXPECT_LE(asked, 2U * 10'000) << "about as many as were added";
}

TEST(deadline_queue, remembers_when_the_next_unlisted_call_is_due) {
  deadline_queue queue;
  queue.set_unlisted(500);
  queue.set_unlisted(700);
  EXPECT_FALSE(queue.pop_due(100));
  EXPECT_EQ(queue.next_ns(), 500);
  EXPECT_FALSE(queue.unlisted_due(499));
  EXPECT_TRUE(queue.unlisted_due(500));
  EXPECT_FALSE(queue.unlisted_due(500)) << "said once; the caller checks, and sets the next time";
}

}  // namespace
}  // namespace ham::detail
