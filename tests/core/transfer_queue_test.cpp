// Accesses that go on beside their callers: each part once, the end once, helpers, failures, the end of the node.
#include "core/transfer_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/process.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {
namespace {

using transport::access_result;

/// What the accesses of a test did.
struct record {
  std::mutex mutex;
  std::vector<std::size_t> moved;  // begins of parts
  std::promise<access_result> end;
  int ends = 0;
  std::string expired;  // how, if it is
  std::future<access_result> over = end.get_future();
};

class fake_transfer final : public transfer {
 public:
  using move_part = std::function<access_result(std::size_t at)>;
  fake_transfer(record& to, move_part how) : to_(to), how_(std::move(how)) {}
  access_result move(std::size_t at, std::size_t) noexcept override {
    {
      std::lock_guard guard(to_.mutex);
      to_.moved.push_back(at);
    }
    return how_(at);
  }
  void finish(access_result how) noexcept override {
    if (++to_.ends == 1) to_.end.set_value(how);
  }
  void expire(bool begun) noexcept override {
    to_.expired = begun ? "begun" : "not begun";
    finish(access_result::lost);
  }
  [[nodiscard]] std::exception_ptr late(bool) const noexcept override {
    return std::make_exception_ptr(deadline_exceeded("late"));
  }

 private:
  record& to_;
  move_part how_;
};

std::unique_ptr<transfer> make(
    record& to, fake_transfer::move_part how = [](std::size_t) { return access_result::done; }) {
  return std::make_unique<fake_transfer>(to, std::move(how));
}

bool is_mine(std::thread::id id) { return id == std::this_thread::get_id(); }

std::vector<std::size_t> sorted(std::vector<std::size_t> what) {
  std::sort(what.begin(), what.end());
  return what;
}

TEST(transfer_queue, moves_each_part_once_on_a_thread_of_its_own) {
  transfer_queue queue(nullptr);
  call_slot slot;
  record seen;
  std::atomic<bool> mine{false};
  std::atomic<bool> executes{false};
  auto what = make(seen, [&, me = std::this_thread::get_id()](std::size_t) {
    if (me == std::this_thread::get_id()) mine = true;
    if (!this_thread.only_receives) executes = true;
    return access_result::done;
  });
  ASSERT_TRUE(queue.begin(slot, what, 25, 10));
  EXPECT_EQ(what, nullptr);
  EXPECT_EQ(seen.over.get(), access_result::done);
  EXPECT_EQ(sorted(seen.moved), (std::vector<std::size_t>{0, 10, 20}));
  queue.stop();
  EXPECT_EQ(seen.ends, 1);
  EXPECT_FALSE(mine);
  EXPECT_FALSE(executes) << "calls are not that thread's";
  EXPECT_FALSE(queue.busy());
}

TEST(transfer_queue, who_waits_moves_what_nobody_has_taken) {
  transfer_queue queue(nullptr);
  call_slot slot;
  record seen;
  std::promise<void> first_taken, go_on;
  auto what = make(seen, [&](std::size_t at) {
    if (at == 0) {
      first_taken.set_value();
      go_on.get_future().wait();
    }
    return access_result::done;
  });
  ASSERT_TRUE(queue.begin(slot, what, 100, 10));
  first_taken.get_future().wait();
  EXPECT_TRUE(queue.busy());
  queue.help(slot, base::now_ns() - 1);
  EXPECT_EQ(seen.moved.size(), 1U) << "its time is over";
  queue.help(slot, base::never_ns);
  EXPECT_EQ(seen.moved.size(), 10U);
  EXPECT_EQ(seen.ends, 0) << "the first part is still being moved";
  go_on.set_value();
  EXPECT_EQ(seen.over.get(), access_result::done);
}

TEST(transfer_queue, helps_only_with_what_it_waits_for_and_has_time_for) {
  transfer_queue queue(nullptr);
  call_slot blocked, waiting, other;
  record first, second;
  std::promise<void> first_taken, go_on;
  auto blocks = make(first, [&](std::size_t) {
    first_taken.set_value();
    go_on.get_future().wait();
    return access_result::done;
  });
  ASSERT_TRUE(queue.begin(blocked, blocks, 10, 10));
  first_taken.get_future().wait();
  std::thread::id by;
  auto whole = make(second, [&](std::size_t) {
    by = std::this_thread::get_id();
    return access_result::done;
  });
  ASSERT_TRUE(queue.begin(waiting, whole, 10, 10));
  queue.help(other, base::never_ns);
  queue.help(waiting, base::now_ns() + 60'000'000'000);
  EXPECT_TRUE(second.moved.empty()) << "one part may take longer than the time";
  queue.help(waiting, base::never_ns);
  EXPECT_EQ(second.over.get(), access_result::done);
  EXPECT_TRUE(is_mine(by));
  go_on.set_value();
  EXPECT_EQ(first.over.get(), access_result::done);
}

/// Its parts take until the deadline. On a busy machine the first one may be late: then it gets a longer one.
TEST(transfer_queue, begins_nothing_behind_the_deadline) {
  for (std::int64_t time_ns = 50'000'000;; time_ns *= 2) {
    transfer_queue queue(nullptr);
    call_slot slot;
    record seen;
    const std::int64_t deadline = base::now_ns() + time_ns;
    auto what = make(seen, [&](std::size_t) {
      while (base::now_ns() < deadline) base::sleep_ns(1'000'000);
      return access_result::done;
    });
    ASSERT_TRUE(queue.begin(slot, what, 1000, 10, deadline));
    seen.over.wait();
    queue.stop();
    EXPECT_EQ(seen.ends, 1);
    EXPECT_FALSE(queue.busy());
    ASSERT_EQ(seen.expired, seen.moved.empty() ? "not begun" : "begun");
    if (seen.moved.empty() && time_ns < 20'000'000'000) continue;
    EXPECT_EQ(seen.moved.size(), 1U) << "what was begun is moved to its end";
    break;
  }

  record second;
  auto none = make(second);
  transfer_queue other(nullptr);
  call_slot slot;
  ASSERT_TRUE(other.begin(slot, none, 1000, 10, 1));
  second.over.wait();
  EXPECT_EQ(second.expired, "not begun");
  EXPECT_TRUE(second.moved.empty());
}

TEST(transfer_queue, a_waiter_stops_at_the_deadline_as_well) {
  transfer_queue queue(nullptr);
  call_slot blocked;
  record first;
  std::promise<void> first_taken, go_on;
  auto blocks = make(first, [&](std::size_t) {
    first_taken.set_value();
    go_on.get_future().wait();
    return access_result::done;
  });
  ASSERT_TRUE(queue.begin(blocked, blocks, 10, 10));
  first_taken.get_future().wait();
  for (std::int64_t time_ns = 20'000'000;; time_ns *= 2) {  // on a busy machine it may be late at once
    call_slot slot;
    record seen;
    auto what = make(seen, [&](std::size_t) {
      base::sleep_ns(time_ns / 4);
      return access_result::done;
    });
    ASSERT_TRUE(queue.begin(slot, what, 1000, 10, base::now_ns() + time_ns));
    queue.help(slot, base::never_ns);
    EXPECT_EQ(seen.ends, 1);
    if (seen.expired == "not begun" && time_ns < 20'000'000'000) continue;
    EXPECT_EQ(seen.expired, "begun");
    EXPECT_GE(seen.moved.size(), 1U);
    EXPECT_LT(seen.moved.size(), 100U);
    break;
  }
  go_on.set_value();
  first.over.wait();
}

TEST(transfer_queue, one_that_expires_is_taken_back_unless_it_is_being_moved) {
  transfer_queue queue(nullptr);
  call_slot blocked, slot, other;
  record first, seen;
  std::promise<void> first_taken, go_on;
  auto blocks = make(first, [&](std::size_t) {
    first_taken.set_value();
    go_on.get_future().wait();
    return access_result::done;
  });
  ASSERT_TRUE(queue.begin(blocked, blocks, 20, 10));
  first_taken.get_future().wait();
  auto what = make(seen);
  ASSERT_TRUE(queue.begin(slot, what, 10, 10, base::now_ns() + 60'000'000'000));
  EXPECT_EQ(queue.take_expired(other).what, nullptr);
  EXPECT_EQ(queue.take_expired(blocked).what, nullptr) << "who moves it ends it";
  const transfer_queue::expired back = queue.take_expired(slot);
  ASSERT_NE(back.what, nullptr);
  EXPECT_FALSE(back.begun);
  EXPECT_EQ(queue.take_expired(slot).what, nullptr) << "once";
  go_on.set_value();
  first.over.wait();
  queue.stop();
  EXPECT_EQ(first.expired, "begun");
  EXPECT_EQ(first.moved.size(), 1U);
  EXPECT_EQ(seen.ends, 0);
  EXPECT_FALSE(queue.busy());
}

TEST(transfer_queue, a_failure_ends_it_before_the_rest_is_begun) {
  transfer_queue queue(nullptr);
  call_slot slot;
  record seen;
  auto what = make(seen, [](std::size_t at) { return at == 10 ? access_result::stale : access_result::done; });
  ASSERT_TRUE(queue.begin(slot, what, 1000, 10));
  EXPECT_EQ(seen.over.get(), access_result::stale);
  EXPECT_EQ(seen.moved, (std::vector<std::size_t>{0, 10}));
}

TEST(transfer_queue, its_end_completes_what_was_handed_over) {
  record seen[20];
  call_slot slots[20];
  transfer_queue queue(nullptr);
  for (int i = 0; i < 20; ++i) {
    auto what = make(seen[i], [](std::size_t) {
      base::sleep_ns(100'000);
      return access_result::done;
    });
    ASSERT_TRUE(queue.begin(slots[i], what, 30, 10));
  }
  queue.stop();
  for (const record& one : seen) EXPECT_EQ(one.ends, 1);
  record late;
  auto what = make(late);
  EXPECT_FALSE(queue.begin(slots[0], what, 30, 10));
  EXPECT_NE(what, nullptr) << "it stays the caller's";
  queue.stop();
}

TEST(transfer_queue, its_end_waits_for_who_helps) {
  call_slot slot;
  record seen;
  std::promise<void> taken;
  std::atomic<bool> waits{false};
  auto queue = std::make_unique<transfer_queue>(nullptr);
  std::promise<void> worker_in;
  auto what = make(seen, [&](std::size_t at) {
    if (at == 0) {
      worker_in.set_value();
      taken.get_future().wait();
    } else {
      taken.set_value();
      while (!waits) std::this_thread::yield();
      base::sleep_ns(5'000'000);
    }
    return access_result::done;
  });
  ASSERT_TRUE(queue->begin(slot, what, 20, 10));
  worker_in.get_future().wait();
  std::thread helper([&] { queue->help(slot, base::never_ns); });
  for (bool both = false; !both; std::this_thread::yield()) {
    std::lock_guard guard(seen.mutex);
    both = seen.moved.size() == 2;
  }
  waits = true;
  queue->stop();
  EXPECT_EQ(seen.ends, 1);
  helper.join();
}

TEST(transfer_queue, what_pays_is_bounded_and_needs_a_second_core) {
  transfer_queue queue(nullptr);
  EXPECT_FALSE(queue.pays(std::size_t{100} << 10));
  EXPECT_EQ(queue.pays(std::size_t{8} << 20), base::usable_cores() > 1);
}

}  // namespace
}  // namespace ham::detail
