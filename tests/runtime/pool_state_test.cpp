// Which node of a pool takes the next task, who waits for room, which errors say that a node is lost.
#include "runtime/pool_state.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/node_loss.hpp"
#include "ham/offload/pool.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"

using namespace ham;
using namespace ham::test;
using ham::detail::when_full;
using offload::detail::pool_state;
using offload::detail::pool_waiter;
using offload::detail::waiter_list;

namespace pool_state_test {

struct task : pool_waiter {
  task()
      : pool_waiter{
            [](pool_waiter& self, std::size_t place) noexcept { static_cast<task&>(self).got.push_back(place); }} {}
  std::vector<std::size_t> got;
};

TEST(waiter_list, gives_them_in_order) {
  waiter_list list;
  EXPECT_TRUE(list.empty());
  task first, second, third;
  list.push_back(second);
  list.push_back(third);
  list.push_front(first);
  EXPECT_EQ(&list.pop(), &first);
  EXPECT_EQ(&list.pop(), &second);
  EXPECT_EQ(&list.pop(), &third);
  EXPECT_TRUE(list.empty());
  list.push_front(first);
  list.push_back(second);
  EXPECT_EQ(&list.pop(), &first);
  EXPECT_EQ(&list.pop(), &second);
}

TEST(waiter_list, lets_go_of_any) {
  waiter_list list;
  task first, second, third;
  list.push_back(first);
  list.push_back(second);
  list.push_back(third);
  EXPECT_TRUE(list.remove(second));
  EXPECT_FALSE(list.remove(second));
  EXPECT_TRUE(list.remove(third));
  list.push_back(second);
  EXPECT_TRUE(list.remove(first));
  EXPECT_EQ(&list.pop(), &second);
  EXPECT_TRUE(list.empty());
}

std::exception_ptr loss_of(node_t node) {
  return std::make_exception_ptr(node_failure("node " + std::to_string(node) + " was lost",
                                              {.node = node, .host = "there", .pid = 5, .function = {}}));
}

class pool_state_of_two : public two_targets {
 protected:
  pool_state state{ham::detail::current(), {2, 1}, 2};
};

TEST_F(pool_state_of_two, fills_nodes_evenly) {
  std::vector<std::size_t> places;
  for (int i = 0; i < 4; ++i) places.push_back(state.enter(when_full::refuse));
  EXPECT_EQ(places, (std::vector<std::size_t>{0, 1, 0, 1}));
  EXPECT_EQ(state.node(0), 2);
  EXPECT_EQ(state.enter(when_full::refuse), pool_state::none);
  state.leave(1);
  EXPECT_EQ(state.enter(when_full::refuse), 1U);
  EXPECT_EQ(state.pending(), 4U);
}

TEST_F(pool_state_of_two, has_room_by_itself) {
  pool_state by_itself(ham::detail::current(), {2, 1}, 0);
  std::size_t tasks = 0;
  while (by_itself.enter(when_full::refuse) != pool_state::none) ++tasks;
  EXPECT_EQ(tasks, 2 * offload::detail::pool_room::few);
}

TEST_F(pool_state_of_two, a_task_that_moves_on_comes_before_all_others_and_counts_meanwhile) {
  for (int i = 0; i < 4; ++i) static_cast<void>(state.enter(when_full::refuse));
  task moved, again;
  state.exclude(0, loss_of(2));
  EXPECT_EQ(state.living(), 1U);
  state.move_on(0, moved);
  state.move_on(0, again);
  EXPECT_TRUE(moved.got.empty()) << "the other node is full";
  EXPECT_EQ(state.pending(), 4U);
  EXPECT_EQ(state.enter(when_full::refuse), pool_state::none);
  state.leave(1);
  EXPECT_EQ(again.got, (std::vector<std::size_t>{1}));
  EXPECT_TRUE(moved.got.empty());
  state.leave(1);
  EXPECT_EQ(moved.got, (std::vector<std::size_t>{1}));
  EXPECT_EQ(state.pending(), 2U);
}

TEST_F(pool_state_of_two, those_that_wait_are_told_that_no_node_is_left) {
  for (int i = 0; i < 4; ++i) static_cast<void>(state.enter(when_full::refuse));
  task moved;
  state.exclude(0, loss_of(2));
  state.move_on(0, moved);
  state.exclude(1, loss_of(1));
  state.exclude(1, loss_of(1));  // tasks of one node all tell
  EXPECT_EQ(moved.got, (std::vector<std::size_t>{pool_state::none}));
  EXPECT_EQ(state.living(), 0U);
  try {
    static_cast<void>(state.enter(when_full::wait));
    ADD_FAILURE();
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), 1);
    EXPECT_EQ(failure.host(), "there");
    EXPECT_EQ(failure.outcome(), call_outcome::not_run);
    EXPECT_NE(std::string(failure.what()).find("node 1 was lost"), std::string::npos);
  }
}

struct leaving_task : pool_waiter {
  explicit leaving_task(pool_state& of)
      : pool_waiter{[](pool_waiter& self, std::size_t) noexcept {
          static_cast<leaving_task&>(self).from.leave(pool_state::none);
        }},
        from(of) {}
  pool_state& from;
};

TEST_F(pool_state_of_two, tasks_that_are_told_so_leave_one_behind_the_other) {
  constexpr std::size_t per_node = 100'000;  // no stack has room for that many, one inside of the other
  pool_state large(ham::detail::current(), {2, 1}, per_node);
  for (std::size_t i = 0; i < 2 * per_node; ++i) static_cast<void>(large.enter(when_full::refuse));
  large.exclude(0, loss_of(2));
  std::deque<leaving_task> moved;
  for (std::size_t i = 0; i < per_node; ++i) large.move_on(0, moved.emplace_back(large));
  EXPECT_EQ(large.pending(), 2 * per_node);
  large.exclude(1, loss_of(1));
  EXPECT_EQ(large.pending(), per_node) << "those that have not moved";
}

TEST_F(pool_state_of_two, errors_of_calls_that_a_task_has_made_are_no_losses) {
  EXPECT_FALSE(state.is_loss(0, std::make_exception_ptr(std::runtime_error("x")), true));
  EXPECT_FALSE(state.is_loss(0, loss_of(1), true)) << "another node";
  EXPECT_FALSE(state.is_loss(0, loss_of(2), true)) << "lost to another one, but not to this";
  EXPECT_TRUE(state.is_loss(0, loss_of(2), false));
  ham::detail::current().part_with(2, "it was to go", ham::detail::peer_end::left);
  EXPECT_TRUE(state.is_loss(0, loss_of(2), true));
}

ham::detail::ending_failure ending(node_t node) {
  node_failure::details what;
  what.node = node;
  return {"node " + std::to_string(node) + " ends", std::move(what)};
}
std::exception_ptr end_of(node_t node) { return std::make_exception_ptr(ending(node)); }

struct noted : ham::detail::continuation {
  noted() : continuation{[](continuation* self) { ++static_cast<noted*>(self)->times; }} {}
  int times = 0;
};

TEST_F(pool_state_of_two, the_loss_of_a_process_that_says_that_it_ends_is_waited_for) {
  noted what;
  EXPECT_FALSE(state.awaits_loss(0, loss_of(2), &what)) << "this may be said of any failure";
  EXPECT_FALSE(state.awaits_loss(0, end_of(1), &what)) << "another node";
  EXPECT_FALSE(state.awaits_loss(0, nullptr, &what));
  EXPECT_TRUE(state.awaits_loss(0, end_of(2), &what));
  EXPECT_FALSE(state.is_loss(0, end_of(2), true));
  EXPECT_EQ(what.times, 0);
  ham::detail::current().part_with(2, "its process died");
  EXPECT_EQ(what.times, 1);
  EXPECT_TRUE(state.is_loss(0, end_of(2), true));
  EXPECT_FALSE(state.awaits_loss(0, end_of(2), &what)) << "it is known";
}

int ends_on_node_1(int value) {
  if (offload::this_node() == 1) throw ending(1);
  return value;
}

using pool_of_two = two_targets;

TEST_F(pool_of_two, calls_that_a_node_had_when_it_failed_go_to_another_one) {
  ham::detail::engine& at = ham::detail::current();
  offload::pool workers;
  std::vector<offload::future<int>> tasks;
  for (int i = 0; i < 4; ++i) tasks.push_back(workers.async(idempotent(fn<&ends_on_node_1>), i));
  ASSERT_TRUE(eventually([&] {
    at.poll_once();
    return at.losses.next_ns() != base::never_ns;
  }));
  at.part_with(1, "its process died");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(tasks[static_cast<std::size_t>(i)].get(), i);
  EXPECT_EQ(workers.living(), 1U);
}

}  // namespace pool_state_test
