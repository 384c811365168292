// Which errors are told: of futures that are dropped, detached, handed on; and which are not.
#include "ham/offload/unobserved_error.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "offload/gate.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace unobserved_error_test {

std::mutex told_mutex;
std::vector<unobserved_error> told;
void keep(const unobserved_error& what) {
  const std::lock_guard guard(told_mutex);
  told.push_back(what);
}
std::size_t count() {
  const std::lock_guard guard(told_mutex);
  return told.size();
}

int fail(const std::string& why) { throw std::runtime_error(why); }
int echo(int value) { return value; }
int slow(int value) {
  std::this_thread::sleep_for(20ms);
  return value;
}
void fail_at_once() { throw std::length_error("pinged"); }

class told_errors {
 public:
  told_errors() {
    told.clear();
    on_unobserved_error(&keep);
  }
  ~told_errors() { on_unobserved_error(nullptr); }
};

class unobserved_errors : public two_targets {
 protected:
  told_errors watch_;
};

TEST_F(unobserved_errors, of_a_call_whose_future_is_dropped) {
  { auto dropped = offload::async(1, fn<&fail>, std::string("nobody")); }
  ASSERT_EQ(count(), 1U);
  EXPECT_EQ(told[0].what, operation::call);
  EXPECT_EQ(told[0].node, 1);
  EXPECT_EQ(told[0].at, 0);
  EXPECT_NE(told[0].function.find("fail"), std::string::npos) << told[0].function;
  EXPECT_THROW(std::rethrow_exception(told[0].error), std::runtime_error);
}

TEST_F(unobserved_errors, of_one_that_is_assigned_over_or_moved_from_and_dropped) {
  auto kept = offload::async(1, fn<&fail>, std::string("first"));
  kept = offload::async(1, fn<&fail>, std::string("second"));
  EXPECT_EQ(count(), 1U);
  {
    auto moved = std::move(kept);
    EXPECT_EQ(count(), 1U);
  }
  EXPECT_EQ(count(), 2U);
}

TEST_F(unobserved_errors, not_of_one_that_was_read) {
  auto thrown = offload::async(1, fn<&fail>, std::string("thrown"));
  EXPECT_THROW((void)thrown.get(), std::runtime_error);
  {
    auto asked = offload::async(1, fn<&fail>, std::string("asked"));
    EXPECT_NE(asked.error(), nullptr);
  }
  {
    auto asked = offload::async(1, fn<&fail>, std::string("asked"));
    EXPECT_FALSE(asked.has_value());
  }
  EXPECT_EQ(count(), 0U);
}

TEST_F(unobserved_errors, of_detached_calls_when_they_arrive) {
  offload::async(1, fn<&fail>, std::string("let go")).detach();
  EXPECT_TRUE(eventually([] {
    offload::sync(1, fn<&echo>, 1);
    return count() == 1;
  }));
  EXPECT_EQ(told[0].what, operation::call);
  EXPECT_EQ(told[0].node, 1);
  offload::async(1, fn<&echo>, 1).detach();
  offload::sync(1, fn<&echo>, 1);
  EXPECT_EQ(count(), 1U);
}

TEST_F(unobserved_errors, of_a_detached_batch) {
  {
    offload::batch calls(1);
    for (int i = 0; i < 3; ++i) {
      auto one = calls.add(fn<&fail>, std::string("batched"));
      if (i == 0) continue;  // dropped: submits
      one.detach();
    }
  }
  EXPECT_TRUE(eventually([] {
    offload::sync(1, fn<&echo>, 1);
    return count() == 3;
  }));
}

TEST_F(unobserved_errors, of_continuations_and_of_what_they_throw) {
  {
    auto chain = offload::async(1, fn<&fail>, std::string("first")).then([](int) {});
  }
  EXPECT_EQ(count(), 1U) << "told once: it went on to the second future";
  {
    auto chain = offload::async(1, fn<&echo>, 1).then([](int) -> int { throw std::logic_error("inside"); });
  }
  EXPECT_EQ(count(), 2U);
  EXPECT_EQ(told[1].what, operation::continuation);
  offload::async(1, fn<&echo>, 1).then([](int) -> int { throw std::logic_error("detached"); }).detach();
  EXPECT_TRUE(eventually([] {
    offload::sync(1, fn<&echo>, 1);
    return count() == 3;
  }));
}

TEST_F(unobserved_errors, of_each_future_in_a_dropped_when_all) {
  {
    std::vector<offload::future<int>> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(offload::async(1, fn<&fail>, std::string("part")));
    auto all = offload::when_all(std::move(parts));
  }
  EXPECT_EQ(count(), 3U);
}

TEST_F(unobserved_errors, of_pings_where_they_run) {
  offload::ping(1, fn<&fail_at_once>);
  offload::sync(1, fn<&echo>, 1);
  ASSERT_EQ(count(), 1U);
  EXPECT_EQ(told[0].what, operation::ping);
  EXPECT_EQ(told[0].at, 1);
  EXPECT_NE(told[0].function.find("fail_at_once"), std::string::npos);
}

TEST_F(unobserved_errors, of_deadlines_but_not_of_detached_calls) {
  closed_gate gate;
  { auto late = offload::async(offload::within(1, 1ms), fn<&held>, 1); }
  gate.open();
  EXPECT_EQ(count(), 1U);
  EXPECT_THROW(std::rethrow_exception(told[0].error), deadline_exceeded);
  offload::async(offload::within(1, 1ms), fn<&slow>, 1).detach();
  offload::sync(1, fn<&slow>, 1);
  EXPECT_EQ(count(), 1U);
}

TEST(unobserved_ends, of_a_runtime_in_order_are_none) {
  const told_errors watch;
  offload::future<int> outlives;
  {
    runtime job(loopback(1));
    outlives = offload::async(1, fn<&slow>, 1);
    offload::async(1, fn<&slow>, 1).detach();
    offload::make_ready_future<int>(1).then([](int value) { return value; }).detach();
  }
  outlives = {};
  EXPECT_EQ(count(), 0U);
}

TEST(unobserved_ends, what_a_function_threw_is_told_after_the_end_as_well) {
  const told_errors watch;
  {
    offload::future<int> outlives;
    {
      runtime job(loopback(1));
      outlives = offload::async(1, fn<&fail>, std::string("before"));
      outlives.wait();
    }
  }
  ASSERT_EQ(count(), 1U);
  EXPECT_EQ(told[0].at, -1);
}

class unobserved_transfers : public either_way {
 protected:
  told_errors watch_;
};

TEST_P(unobserved_transfers, discarded_puts_gets_and_copies_are_told_with_verb_and_node) {
  auto good = offload::allocate<int>(1, 8);
  auto other = offload::allocate<int>(2, 8);
  std::vector<int> local(100);
  offload::put(local.data(), good, 8);
  EXPECT_EQ(count(), 0U);
  offload::put(local.data(), good, 100);
  ASSERT_EQ(count(), 1U);
  EXPECT_EQ(told[0].what, operation::put);
  EXPECT_EQ(told[0].node, 1);
  EXPECT_EQ(told[0].function, "");
  EXPECT_THROW(std::rethrow_exception(told[0].error), buffer_error);
  offload::get(good, local.data(), 100);
  ASSERT_EQ(count(), 2U);
  EXPECT_EQ(told[1].what, operation::get);
  EXPECT_EQ(told[1].node, 1);
  offload::copy(good, other, 100);
  ASSERT_EQ(count(), 3U);
  EXPECT_EQ(told[2].what, operation::copy);
  offload::free(good);
  offload::put(local.data(), good, 8);
  ASSERT_EQ(count(), 4U);
  EXPECT_EQ(told[3].what, operation::put);
  offload::free(other);
}

TEST_P(unobserved_transfers, of_rows_as_well) {
  const offload::buffer<int> good(1, 8);
  std::vector<int> local(100);
  const offload::block rows{10, 2, 4, 4};
  offload::put(local.data(), good.ptr(), rows);
  ASSERT_EQ(count(), 1U);
  EXPECT_EQ(told[0].what, operation::put);
  EXPECT_EQ(told[0].function, "");
  offload::get(good.ptr(), local.data(), rows);
  ASSERT_EQ(count(), 2U);
  EXPECT_EQ(told[1].what, operation::get);
}

TEST_P(unobserved_transfers, many_pieces_are_told_once) {
  auto good = offload::allocate<char>(1, 8);
  std::vector<char> local(std::size_t{5} << 20);
  offload::put(local.data(), good, local.size());
  EXPECT_EQ(count(), 1U);
  offload::free(good);
}

TEST_P(unobserved_transfers, with_a_deadline_or_a_call_behind_them_are_told_once_with_verb_and_node) {
  auto good = offload::allocate<int>(1, 8);
  auto other = offload::allocate<int>(2, 8);
  std::vector<int> local(std::size_t{1} << 20);
  const auto is = [](std::size_t index, operation what, node_t node) {
    ASSERT_EQ(count(), index + 1);
    EXPECT_EQ(told[index].what, what);
    EXPECT_EQ(told[index].node, node);
    EXPECT_THROW(std::rethrow_exception(told[index].error), buffer_error);
  };
  offload::put(offload::within(1, 60s), local.data(), good, local.size());
  is(0, operation::put, 1);
  offload::get(offload::within(1, 60s), good, local.data(), local.size());
  is(1, operation::get, 1);
  offload::put(local.data(), good, local.size(), offload::then_call(fn<&echo>, 1));
  is(2, operation::put, 1);
  offload::copy(good, other, 100, offload::then_call(fn<&echo>, 1));
  is(3, operation::copy, 2);
  offload::free(good);
  offload::free(other);
}

TEST_P(unobserved_transfers, late_ones_are_told_with_verb_and_node) {
  auto good = offload::allocate<int>(1, 8);
  std::vector<int> local(8);
  offload::put(offload::within(1, 1ns), local.data(), good, 8);
  if (GetParam()) {
    EXPECT_EQ(count(), 0U) << "the caller has written it";
  } else {
    ASSERT_EQ(count(), 1U);
    EXPECT_EQ(told[0].what, operation::put);
    EXPECT_EQ(told[0].node, 1);
    EXPECT_THROW(std::rethrow_exception(told[0].error), deadline_exceeded);
  }
  offload::free(good);
}

INSTANTIATE_TEST_SUITE_P(, unobserved_transfers, testing::Bool(), name_of_way);

}  // namespace unobserved_error_test
