// Slots of pending calls: each is claimed by one, found by its id alone, and never by an id that it had before.
#include "core/slot_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "core/wire.hpp"

namespace ham::inline v1::detail {
namespace {

call_slot& claimed(slot_table& table) {
  call_slot* const slot = table.claim();
  EXPECT_NE(slot, nullptr);
  slot->state.store(slot_state::pending);
  return *slot;
}

TEST(slot_table, slots_are_found_by_their_ids) {
  char place = 0;
  auto* const owner = reinterpret_cast<engine*>(&place);
  slot_table table(owner);
  EXPECT_EQ(table.find(0), nullptr) << "nothing was claimed yet";
  std::vector<call_slot*> slots;
  std::set<std::uint32_t> ids;
  for (std::size_t i = 0; i < slot_table::chunk_slots + 10; ++i) {  // more than a chunk
    slots.push_back(&claimed(table));
    EXPECT_TRUE(ids.insert(slots.back()->id.load()).second);
    EXPECT_EQ(slots.back()->owner, owner);
    EXPECT_EQ(slots.back()->then, nullptr) << "the list of free slots shows through";
  }
  for (call_slot* const one : slots) EXPECT_EQ(table.find(one->id.load()), one);
  EXPECT_EQ(table.find(2 * slot_table::chunk_slots), nullptr) << "a chunk that is not there";
  EXPECT_EQ(table.find(no_reply), nullptr);
  for (call_slot* const one : slots) table.release(*one);
}

TEST(slot_table, an_id_ends_with_its_call) {
  slot_table table(nullptr);
  call_slot& slot = claimed(table);
  const std::uint32_t first = slot.id.load();
  slot.orphan = true;
  slot.reply_due.store(true);
  table.release(slot);
  EXPECT_EQ(slot.state.load(), slot_state::free);
  EXPECT_FALSE(slot.orphan);
  EXPECT_FALSE(slot.reply_due.load());
  EXPECT_EQ(table.find(first), nullptr);
  call_slot& again = claimed(table);
  EXPECT_EQ(&again, &slot) << "the last one released is in the cache";
  EXPECT_NE(again.id.load(), first);
  EXPECT_EQ(again.id.load() & slot_table::index_mask, first & slot_table::index_mask);
  EXPECT_EQ(table.find(first), nullptr) << "a late reply to the first call";
  table.release(again);
}

TEST(slot_table, an_id_comes_back_when_the_generation_wraps_and_not_before) {
  slot_table table(nullptr);
  const std::uint32_t first = claimed(table).id.load();
  constexpr unsigned generations = 1U << (32 - slot_table::index_bits);
  for (unsigned i = 1; i < generations; ++i) {
    table.release(*table.find(first + ((i - 1) << slot_table::index_bits)));
    ASSERT_NE(claimed(table).id.load(), first) << i;
  }
  call_slot* const last = table.find(first + ((generations - 1) << slot_table::index_bits));
  ASSERT_NE(last, nullptr);
  table.release(*last);
  EXPECT_EQ(last->id.load(), first);
}

TEST(slot_table, visits_every_slot_that_was_ever_in_use) {
  slot_table table(nullptr);
  std::size_t visits = 0;
  table.for_each([&](call_slot&) { ++visits; });
  EXPECT_EQ(visits, 0U);
  std::set<const call_slot*> pending{&claimed(table), &claimed(table), &claimed(table)};
  table.for_each([&](call_slot& one) {
    if (one.state.load() != slot_state::pending) return;
    EXPECT_EQ(pending.erase(&one), 1U);
  });
  EXPECT_TRUE(pending.empty());
  table.for_each([&](call_slot& one) {
    if (one.state.load() == slot_state::pending) table.release(one);
  });
}

TEST(slot_table, is_full_before_an_id_means_no_reply) {
#if defined(HAM_TEST_SANITIZED)
  GTEST_SKIP() << "a sanitizer takes too much memory for a million slots";
#endif
  slot_table table(nullptr);
  constexpr std::size_t most = (slot_table::max_chunks - 1) * slot_table::chunk_slots;
  for (std::size_t i = 0; i < most; ++i) ASSERT_NE(table.claim(), nullptr) << i;
  EXPECT_EQ(table.claim(), nullptr);
  EXPECT_EQ(table.claim(), nullptr) << "its lock was not given back";
  call_slot* const any = table.find(12345);
  ASSERT_NE(any, nullptr);
  table.release(*any);
  EXPECT_EQ(table.claim(), any);
  EXPECT_EQ(table.find(no_reply), nullptr);
}

/// The sanitizers say whether the chunk goes, and not too early.
TEST(slot_table, futures_outlive_the_table_with_their_slots) {
  auto table = std::make_unique<slot_table>(reinterpret_cast<engine*>(1));
  call_slot& first = claimed(*table);
  call_slot& second = claimed(*table);
  call_slot& orphan = claimed(*table);
  orphan.orphan = true;
  second.state.store(slot_state::value);
  second.id.store(second.id.load() + (5U << slot_table::index_bits));  // its place follows from the index alone
  table.reset();
  EXPECT_EQ(first.owner, nullptr);
  EXPECT_EQ(second.owner, nullptr);
  slot_table::release_left_over(first);
  EXPECT_EQ(second.state.load(), slot_state::value) << "one future is left";
  slot_table::release_left_over(second);
}

TEST(slot_table, a_lock_that_nobody_will_give_back_is_made_anew) {
  slot_table table(nullptr);
  std::thread([&] { table.release(claimed(table)); }).join();
  table.renew_lock();
  table.release(claimed(table));
}

TEST(slot_table, slots_that_one_thread_claims_and_another_one_releases_are_used_again) {
  slot_table table(nullptr);
  table.release(claimed(table));
  table.spread();
  table.spread();
  constexpr std::size_t rounds = 4 * slot_table::chunk_slots;
  for (std::size_t done = 0; done < rounds; done += 256) {
    std::vector<call_slot*> slots;
    for (int i = 0; i < 256; ++i) slots.push_back(&claimed(table));
    std::thread([&] {
      for (call_slot* const one : slots) table.release(*one);
    }).join();
  }
  std::size_t made = 0;
  table.for_each([&](call_slot&) { ++made; });
  EXPECT_LE(made, 4 * slot_table::chunk_slots) << "all that were released lie in the other threads' lists";
}

TEST(slot_table, what_lies_in_the_lists_of_other_threads_is_used_when_there_is_no_more) {
#if defined(HAM_TEST_SANITIZED)
  GTEST_SKIP() << "a sanitizer takes too much memory for a million slots";
#endif
  slot_table table(nullptr);
  table.spread();
  std::thread([&] { table.release(claimed(table)); }).join();
  constexpr std::size_t most = (slot_table::max_chunks - 1) * slot_table::chunk_slots;
  for (std::size_t i = 0; i < most; ++i) ASSERT_NE(table.claim(), nullptr) << i;
  EXPECT_EQ(table.claim(), nullptr);
}

class slots_of_threads : public testing::TestWithParam<bool> {};

TEST_P(slots_of_threads, are_never_shared) {
  slot_table table(nullptr);
  if (GetParam()) table.spread();
  std::atomic<int> shared{0};
  const auto use = [&] {
    for (int round = 0; round < 300; ++round) {
      std::vector<call_slot*> mine;
      for (int i = 0; i < 8; ++i) {
        call_slot* const one = table.claim();
        // Who claims it is alone with it until it is released.
        if (one->state.exchange(slot_state::pending) != slot_state::free) ++shared;
        if (table.find(one->id.load()) != one) ++shared;
        mine.push_back(one);
      }
      for (call_slot* const one : mine) table.release(*one);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(use);
  table.spread();  // also while they are used
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(shared.load(), 0);
}
INSTANTIATE_TEST_SUITE_P(in, slots_of_threads, testing::Bool(),
                         [](const auto& info) { return info.param ? "lists_from_the_start" : "one_list"; });

}  // namespace
}  // namespace ham::detail
