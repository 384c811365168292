// Slots that the process settles itself: who waits, what is attached, and what outlives the runtime.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "faults/hostile_world.hpp"

namespace engine_slots_test {

using namespace ham;
using namespace ham::test;
using namespace std::chrono_literals;
using detail::call_slot;
using detail::slot_state;

/// Notes that it ran.
struct noted final : detail::continuation {
  noted(std::vector<int>& to, int number) : continuation{&act}, notes(to), number(number) {}
  static void act(continuation* self) {
    auto& mine = *static_cast<noted*>(self);
    mine.notes.push_back(mine.number);
    if (mine.within) mine.within();
  }
  std::vector<int>& notes;
  int number;
  std::function<void()> within;
};

class engine_slots : public testing::Test {
 protected:
  call_slot& fresh() { return *detail::make_local_slot(world_->node()); }

  std::optional<world> world_{std::in_place};
  std::vector<int> notes_;
};

TEST_F(engine_slots, wait_until_they_are_settled) {
  call_slot& slot = fresh();
  EXPECT_FALSE(slot.settled());
  EXPECT_FALSE(detail::wait_slot(slot, base::now_ns() + 1'000'000)) << "the time was over";
  std::thread other([&] {
    std::this_thread::sleep_for(2ms);
    detail::settle_local(slot, slot_state::value);
  });
  EXPECT_TRUE(detail::wait_slot(slot, INT64_MAX));
  other.join();
  EXPECT_EQ(slot.state.load(), slot_state::value);
  detail::release_slot(slot);
  EXPECT_EQ(slot.state.load(), slot_state::free);
}

TEST_F(engine_slots, what_is_attached_runs_once_whether_before_or_after) {
  call_slot& before = fresh();
  noted first(notes_, 1);
  detail::attach(before, &first);
  EXPECT_TRUE(notes_.empty());
  detail::settle_local(before, slot_state::value);
  EXPECT_EQ(notes_, std::vector{1});
  call_slot& after = fresh();
  detail::settle_local(after, slot_state::failed);
  noted second(notes_, 2);
  detail::attach(after, &second);
  EXPECT_EQ(notes_, (std::vector{1, 2}));
  detail::release_slot(before);
  detail::release_slot(after);
}

TEST_F(engine_slots, what_settles_within_a_continuation_is_continued_after_it) {
  call_slot& outer = fresh();
  call_slot& inner = fresh();
  noted first(notes_, 1);
  noted second(notes_, 2);
  first.within = [&] {
    detail::settle_local(inner, slot_state::value);
    notes_.push_back(10);
  };
  detail::attach(outer, &first);
  detail::attach(inner, &second);
  detail::settle_local(outer, slot_state::value);
  EXPECT_EQ(notes_, (std::vector{1, 10, 2})) << "chains of any length take no stack";
  detail::release_slot(outer);
  detail::release_slot(inner);
}

TEST_F(engine_slots, no_reply_would_free_them_and_so_they_stay_their_owners) {
  call_slot& slot = fresh();
  EXPECT_FALSE(detail::abandon_slot(slot));
  EXPECT_FALSE(slot.orphan);
  detail::settle_local(slot, slot_state::value);
  EXPECT_FALSE(detail::abandon_slot(slot));
  EXPECT_EQ(slot.state.load(), slot_state::value);
  detail::release_slot(slot);
}

TEST_F(engine_slots, outlive_their_runtime) {
  call_slot& slot = fresh();
  call_slot& other = fresh();
  detail::settle_local(slot, slot_state::value);
  detail::settle_local(other, slot_state::value);
  world_.reset();
  EXPECT_EQ(slot.owner, nullptr);
  EXPECT_TRUE(detail::wait_slot(slot, INT64_MAX));
  detail::poll_slot(slot);
  EXPECT_FALSE(detail::abandon_slot(slot));
  noted late(notes_, 3);
  detail::attach(slot, &late);
  EXPECT_EQ(notes_, std::vector{3});
  detail::release_slot(slot);
  EXPECT_EQ(other.state.load(), slot_state::value);
  detail::release_slot(other);
}

}  // namespace engine_slots_test
