// Accesses that go on as long as they are polled: by whom, to the end, all at once, until the node ends.
#include "core/started_transfers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace std::chrono_literals;

/// What one of a test did; outlives it.
struct started_record {
  std::atomic<int> moves{0};
  std::atomic<int> needed{1};  // moves
  std::atomic<bool> over{false}, given_up{false}, destroyed{false}, executes{false}, by_other{false};
  const std::thread::id owner = std::this_thread::get_id();
};

class fake_started final : public started_transfer {
 public:
  explicit fake_started(started_record& to) : to_(to) {}
  ~fake_started() override { to_.destroyed = true; }
  bool move_on() noexcept override {
    if (std::this_thread::get_id() != to_.owner) {
      to_.by_other = true;
      if (!this_thread.only_receives) to_.executes = true;
    }
    EXPECT_FALSE(to_.over) << "it is over";
    const bool over = ++to_.moves >= to_.needed;
    if (over) to_.over = true;
    return over;
  }
  void give_up() noexcept override { to_.given_up = true; }

 private:
  started_record& to_;
};

constexpr int endless = 1'000'000'000;

bool begin(started_transfers& at, started_record& what, bool any_thread) {
  std::unique_ptr<started_transfer> fresh = std::make_unique<fake_started>(what);
  return at.begin(fresh, any_thread);
}

template <class Done>
bool soon(Done done) {
  for (int i = 0; i < 10'000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

TEST(started_transfers, goes_on_by_a_thread_while_its_caller_does_something_else) {
  started_record seen;
  seen.needed = 20;
  started_transfers all(nullptr);
  ASSERT_TRUE(begin(all, seen, true));
  EXPECT_TRUE(soon([&] { return seen.destroyed.load(); }));
  EXPECT_EQ(seen.moves, 20);
  EXPECT_TRUE(seen.by_other);
  EXPECT_FALSE(seen.executes) << "calls are not that thread's";
  EXPECT_TRUE(soon([&] { return !all.busy(); }));
  EXPECT_FALSE(seen.given_up);
}

TEST(started_transfers, begins_at_once_on_the_thread_of_its_caller) {
  started_record seen;
  started_transfers all(nullptr);
  ASSERT_TRUE(begin(all, seen, true));
  EXPECT_EQ(seen.moves, 1);
  EXPECT_TRUE(seen.destroyed);
  EXPECT_FALSE(seen.by_other);
  EXPECT_FALSE(all.busy());
}

TEST(started_transfers, where_only_some_threads_may_it_waits_for_one_that_polls) {
  started_record closed, open;
  closed.needed = 3;
  open.needed = endless;
  started_transfers all(nullptr);
  ASSERT_TRUE(begin(all, closed, false));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(closed.moves, 1);
  EXPECT_TRUE(all.busy());
  while (all.busy()) all.poll();
  EXPECT_EQ(closed.moves, 3);
  EXPECT_FALSE(closed.by_other);
}

TEST(started_transfers, one_that_stands_still_holds_up_no_other) {
  started_record still, quick;
  still.needed = endless;
  quick.needed = 5;
  started_transfers all(nullptr);
  ASSERT_TRUE(begin(all, still, true));
  ASSERT_TRUE(begin(all, quick, true));
  EXPECT_TRUE(soon([&] { return quick.destroyed.load(); }));
  EXPECT_TRUE(all.busy());
  EXPECT_FALSE(still.over);
}

TEST(started_transfers, many_threads_poll_and_each_is_moved_on_by_one_at_a_time) {
  constexpr int threads = 4;
  std::vector<std::unique_ptr<started_record>> records;
  started_transfers all(nullptr);
  {
    std::vector<std::jthread> others;
    std::atomic<bool> done{false};
    for (int t = 0; t < threads; ++t) {
      others.emplace_back([&] {
        while (!done) all.poll();
      });
    }
    for (int i = 0; i < 2000; ++i) {
      records.push_back(std::make_unique<started_record>());
      records.back()->needed = i % 7 + 1;
      ASSERT_TRUE(begin(all, *records.back(), i % 2 == 0));
    }
    EXPECT_TRUE(soon([&] { return !all.busy(); }));
    done = true;
  }
  all.stop();
  for (const auto& one : records) {
    EXPECT_EQ(one->moves, one->needed);
    EXPECT_TRUE(one->destroyed);
    EXPECT_FALSE(one->given_up);
  }
}

TEST(started_transfers, at_the_end_what_can_be_completed_is) {
  for (const bool any_thread : {true, false}) {
    started_record quick, still, late;
    quick.needed = 50;
    still.needed = endless;
    started_transfers all(nullptr);
    ASSERT_TRUE(begin(all, quick, any_thread));
    ASSERT_TRUE(begin(all, still, any_thread));
    const std::int64_t begin_ns = base::now_ns();
    all.finish(begin_ns + 50'000'000);
    EXPECT_GE(base::now_ns() - begin_ns, 50'000'000) << "one stands still";
    for (int i = 0; i < 100 && !quick.over; ++i) all.finish(base::now_ns() + 50'000'000);  // others use the cores
    EXPECT_TRUE(quick.over);
    EXPECT_FALSE(still.given_up);
    EXPECT_FALSE(begin(all, late, any_thread));
    EXPECT_EQ(late.moves, 0);
    all.stop();
    EXPECT_TRUE(still.given_up);
    EXPECT_TRUE(still.destroyed);
    EXPECT_FALSE(quick.given_up);
    EXPECT_FALSE(all.busy());
  }
}

TEST(started_transfers, without_any_the_end_takes_no_time) {
  started_transfers all(nullptr);
  const std::int64_t begin_ns = base::now_ns();
  all.finish(begin_ns + 100'000'000'000);
  all.stop();
  all.stop();
  EXPECT_LT(base::now_ns() - begin_ns, 50'000'000'000);
}

/// While nothing moves, the core is left to others.
TEST(started_transfers, waits_without_taking_the_core) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer's own work counts";
#endif
  started_record still;
  still.needed = endless;
  started_transfers all(nullptr);
  ASSERT_TRUE(begin(all, still, true));
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(soon([&] { return still.moves > 20; }));  // on a busy machine it goes on more slowly
  const int moves = still.moves;
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(moves, took / 20us) << "about one in 50 us";
}

}  // namespace
}  // namespace ham::detail
