// Futures: reading, waiting, letting go, chaining, combining, awaiting; deadlines.
#include <malloc.h>

#include <atomic>

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace future_test {

std::atomic<bool> gate{false};
std::atomic<int> held_calls{0};
std::atomic<int> ran{0};
void hold() {
  while (!gate.load()) std::this_thread::sleep_for(50us);
  ++ran;
}
int held(int value) {
  ++held_calls;
  hold();
  return value;
}
int echo(int value) { return value; }
int fail(const std::string& why) { throw std::runtime_error(why); }
void slow_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  ++ran;
}

class futures : public two_targets {
 protected:
  futures() {
    gate = false;
    ran = 0;
  }
  ~futures() override { gate = true; }
};

TEST_F(futures, life_of_one) {
  offload::future<int> empty;
  EXPECT_FALSE(empty.valid());
  EXPECT_FALSE(empty.test());
  EXPECT_THROW(empty.wait(), error);
  EXPECT_THROW((void)empty.get(), error);
  EXPECT_THROW((void)empty.wait_for(1ms), error);

  auto one = offload::async(1, fn<&held>, 5);
  EXPECT_TRUE(one.valid());
  EXPECT_FALSE(one.test());
  EXPECT_FALSE(one.wait_for(2ms));
  EXPECT_FALSE(one.wait_until(std::chrono::steady_clock::now()));
  auto moved = std::move(one);
  EXPECT_FALSE(one.valid());  // NOLINT(bugprone-use-after-move): that it is known is the point
  gate = true;
  EXPECT_TRUE(moved.wait_for(20s));
  EXPECT_TRUE(moved.test());
  moved.wait();
  EXPECT_EQ(moved.get(), 5);
  EXPECT_FALSE(moved.valid());
  EXPECT_THROW((void)moved.get(), error);
}

TEST_F(futures, destructor_and_assignment_wait) {
  gate = true;
  { auto discarded = offload::async(1, fn<&slow_ms>, 20); }
  EXPECT_EQ(ran.load(), 1);
  auto kept = offload::async(1, fn<&slow_ms>, 20);
  kept = offload::async(1, fn<&slow_ms>, 1);
  EXPECT_GE(ran.load(), 2);
  kept.get();
  { auto failing = offload::async(1, fn<&fail>, std::string("seen by nobody")); }
}

TEST_F(futures, test_alone_makes_progress) {
  auto one = offload::async(1, fn<&echo>, 1);
  EXPECT_TRUE(eventually([&] { return one.test(); }));
  EXPECT_EQ(one.get(), 1);
}

TEST_F(futures, detached_calls_run) {
  for (int i = 0; i < 100; ++i) offload::async(1, fn<&held>, i).detach();
  auto value = offload::async(2, fn<&echo>, 1);
  value.wait();
  value.detach();
  offload::future<int>().detach();
  auto text = offload::async(1, [] { return std::string(1000, 'd'); });
  text.detach();
  offload::async(1, fn<&fail>, std::string("unseen")).detach();
  offload::async(1, fn<&echo>, 1).then([](int) { ++ran; }).detach();
  gate = true;
  EXPECT_GE(offload::sync(1, [] { return ran.load(); }), 100) << "101 if the continuation was quick";
  EXPECT_TRUE(eventually([] {
    offload::sync(2, fn<&echo>, 0);
    return ran.load() == 101;
  }));
}

TEST_F(futures, then_chains) {
  auto chain = offload::async(1, fn<&held>, 5)
                   .then([](int value) { return std::to_string(value); })
                   .then([](const std::string& text) { return text + text; });
  gate = true;
  EXPECT_EQ(chain.get(), "55");
  auto settled = offload::async(1, fn<&echo>, 5);
  settled.wait();
  EXPECT_EQ(settled.then([](int value) { return value + 1; }).get(), 6);
  bool called = false;
  offload::async(1, [] {}).then([&called] { called = true; }).get();
  EXPECT_TRUE(called);
}

TEST_F(futures, then_passes_errors_on_and_catches_those_of_its_function) {
  bool called = false;
  auto chain = offload::async(1, fn<&fail>, std::string("first")).then([&](int value) {
    called = true;
    return value;
  });
  EXPECT_EQ(message_of<std::runtime_error>([&] { (void)chain.get(); }), "first");
  EXPECT_FALSE(called);
  auto throwing = offload::async(1, fn<&echo>, 1).then([](int) -> int { throw std::out_of_range("second"); });
  EXPECT_THROW((void)throwing.get(), std::out_of_range);
}

TEST_F(futures, then_may_call_again) {
  auto chain = offload::async(1, fn<&echo>, 1).then([](int value) { return offload::sync(2, fn<&echo>, value + 1); });
  EXPECT_EQ(chain.get(), 2);
}

TEST_F(futures, when_all_of_a_vector) {
  std::vector<offload::future<int>> parts;
  for (int i = 0; i < 500; ++i) parts.push_back(offload::async(1 + i % 2, fn<&echo>, i));
  parts.push_back(offload::async(1, fn<&fail>, std::string("one of many")));
  auto settled = offload::when_all(std::move(parts)).get();
  ASSERT_EQ(settled.size(), 501U);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(settled[static_cast<std::size_t>(i)].get(), i);
  EXPECT_THROW((void)settled[500].get(), std::runtime_error);
  EXPECT_TRUE(offload::when_all(std::vector<offload::future<int>>()).get().empty());
}

TEST_F(futures, when_all_of_different_types) {
  auto [number, text, nothing] =
      offload::when_all(offload::async(1, fn<&echo>, 3), offload::async(2, [] { return std::string("t"); }),
                        offload::async(1, [] {}))
          .get();
  EXPECT_EQ(number.get(), 3);
  EXPECT_EQ(text.get(), "t");
  nothing.get();
}

TEST_F(futures, when_any_tells_the_first) {
  std::vector<offload::future<int>> parts;
  parts.push_back(offload::async(1, fn<&held>, 1));
  parts.push_back(offload::async(2, fn<&echo>, 2));
  EXPECT_EQ(offload::when_any(parts).get(), 1U);
  EXPECT_FALSE(parts[0].test());
  gate = true;
  EXPECT_EQ(parts[0].get(), 1);
  EXPECT_EQ(parts[1].get(), 2);
  std::vector<offload::future<int>> none;
  EXPECT_THROW((void)offload::when_any(none), error);
}

offload::task<int> add_up(int calls) {
  int sum = 0;
  for (int i = 0; i < calls; ++i) sum += co_await offload::async(1 + i % 2, fn<&echo>, i);
  co_return sum;
}
offload::task<> catches(std::string& caught) {
  try {
    co_await offload::async(1, fn<&fail>, std::string("awaited"));
  } catch (const std::runtime_error& error) {
    caught = error.what();
  }
}
offload::task<int> throws() {
  const int value = co_await offload::async(1, fn<&echo>, 1);
  if (value == 1) throw std::length_error("out of a coroutine");
  co_return value;
}
offload::task<int> nested() { co_return co_await add_up(10) + co_await add_up(11); }

// Under a sanitizer also: nothing is left that waits for the others.
TEST_F(futures, when_all_and_when_any_want_a_result_of_each) {
  const auto three = [] {
    std::vector<offload::future<int>> result;
    for (int i = 0; i < 3; ++i) result.push_back(offload::async(1, fn<&echo>, i));
    return result;
  };
  auto race = three();
  EXPECT_EQ(race[1].get(), 1);
  EXPECT_THROW(static_cast<void>(offload::when_any(race)), ham::error);
  EXPECT_EQ(race[2].get(), 2);
  auto all = three();
  all[2].detach();
  EXPECT_THROW(static_cast<void>(offload::when_all(std::move(all))), ham::error);
  EXPECT_THROW(static_cast<void>(offload::when_all(offload::async(1, fn<&echo>, 1), offload::future<void>())),
               ham::error);
}

TEST_F(futures, coroutines) {
  EXPECT_EQ(add_up(100).get(), 4950);
  std::string caught;
  catches(caught).get();
  EXPECT_EQ(caught, "awaited");
  EXPECT_THROW((void)throws().get(), std::length_error);
  EXPECT_EQ(nested().get(), 45 + 55);
  EXPECT_EQ(add_up(10).as_future().then([](int sum) { return -sum; }).get(), -45);
}

TEST_F(futures, ready_made) {
  EXPECT_EQ(offload::make_ready_future<int>(3).get(), 3);
  offload::make_ready_future<void>().get();
  EXPECT_EQ(offload::make_ready_future<std::string>(200U, 'x').get().size(), 200U);
}

TEST_F(futures, in_any_order_of_reading) {
  std::vector<offload::future<int>> all;
  for (int i = 0; i < 3000; ++i) all.push_back(offload::async(1 + i % 2, fn<&echo>, i));
  for (int i = 2999; i >= 0; --i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), i);
}

// ---- deadlines

TEST_F(futures, deadline_passes_and_the_late_reply_is_dropped) {
  auto late = offload::async(offload::within(1, 20ms), fn<&held>, 1);
  const std::string text = message_of<deadline_exceeded>([&] { (void)late.get(); });
  EXPECT_NE(text.find("held"), std::string::npos) << text;
  // The slot must not be taken for another call's while the reply is on its way.
  std::vector<offload::future<int>> others;
  for (int i = 0; i < 200; ++i) others.push_back(offload::async(1, fn<&echo>, 1000 + i));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(offload::sync(2, fn<&echo>, i), i);
  gate = true;
  for (int i = 0; i < 200; ++i) EXPECT_EQ(others[static_cast<std::size_t>(i)].get(), 1000 + i);
  EXPECT_EQ(ran.load(), 1) << "it ran nevertheless";
  EXPECT_EQ(offload::sync(1, fn<&echo>, 5), 5) << "the connection lives on";
}

TEST_F(futures, deadline_that_is_kept) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(offload::sync(offload::within(1, 1h), fn<&echo>, i), i);
}

TEST_F(futures, deadline_in_the_past) {
  auto late = offload::async(offload::within(1, -1s), fn<&held>, 1);
  EXPECT_THROW((void)late.get(), deadline_exceeded);
  gate = true;
  EXPECT_EQ(offload::sync(1, fn<&echo>, 5), 5);
}

TEST_F(futures, deadline_that_nobody_waits_for_in_time) {
  auto late = offload::async(offload::within(1, 5ms), fn<&held>, 1);
  std::this_thread::sleep_for(30ms);
  EXPECT_TRUE(eventually([&] { return late.test(); })) << "test() reads the clock";
  EXPECT_THROW((void)late.get(), deadline_exceeded);
  gate = true;
}

TEST_F(futures, deadline_of_a_detached_call) {
  offload::async(offload::within(1, 5ms), fn<&held>, 1).detach();
  auto waker = offload::async(2, fn<&slow_ms>, 50);
  waker.get();  // lets the deadline pass
  gate = true;
  EXPECT_EQ(offload::sync(1, fn<&echo>, 5), 5) << "its late reply is no error of the peer";
  EXPECT_EQ(offload::sync(1, fn<&echo>, 6), 6);
}

TEST_F(futures, deadline_of_a_discarded_call) {
  { auto late = offload::async(offload::within(1, 5ms), fn<&held>, 1); }  // the destructor waits for the deadline
  gate = true;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(offload::sync(1, fn<&echo>, i), i);
}

TEST_F(futures, deadline_of_an_old_call_does_not_touch_the_next_user_of_its_slot) {
  gate = true;
  for (bool in_time = false; !in_time;) {  // a busy machine may need more than one attempt
    try {
      EXPECT_EQ(offload::sync(offload::within(1, 700ms), fn<&echo>, 1), 1);
      in_time = true;
    } catch (const deadline_exceeded&) {
    }
  }
  // Slots are reused last in, first out, and their generation has 12 bits: the 4096th call after has the same id.
  for (int i = 0; i < 4095; ++i) offload::sync(1, fn<&echo>, i);
  EXPECT_NO_THROW(offload::sync(offload::within(1, 1h), fn<&slow_ms>, 1000));
}

TEST_F(futures, many_deadlines_at_once) {
  std::vector<offload::future<int>> late;
  for (int i = 0; i < 300; ++i) {
    late.push_back(offload::async(offload::within(1, std::chrono::milliseconds(1 + i % 20)), fn<&held>, i));
  }
  for (auto& one : late) EXPECT_THROW((void)one.get(), deadline_exceeded);
  gate = true;
  EXPECT_EQ(offload::sync(1, fn<&echo>, 5), 5);
}

TEST_F(futures, deadline_wakes_a_sleeping_waiter) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(offload::sync(offload::within(1, 100ms), fn<&held>, 1), deadline_exceeded);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, 100ms);
  EXPECT_LT(took, 10s);
  gate = true;
}

std::atomic<int> counted{0};
void count() { ++counted; }
void count_long(const std::vector<int>&) { ++counted; }

TEST_F(futures, deadline_bounds_the_wait_for_a_full_queue) {
  counted = 0;
  held_calls = 0;
  std::vector<offload::future<int>> sent;
  sent.push_back(offload::async(1, fn<&held>, 1));
  while (held_calls == 0) std::this_thread::yield();  // what it takes out of the queue would make room
  while (auto one = offload::try_async(1, fn<&echo>, 2)) sent.push_back(std::move(*one));
  const auto has_not_run = [](auto what) {
    const std::string text = message_of<deadline_exceeded>(what);
    EXPECT_NE(text.find("has not run"), std::string::npos) << text;
  };
  auto late = offload::async(offload::within(1, 5ms), fn<&count>);
  has_not_run([&] { late.get(); });
  has_not_run([] { offload::sync(offload::within(1, 5ms), fn<&count_long>, std::vector<int>(1 << 20)); });
  has_not_run([] { offload::ping(offload::within(1, 5ms), fn<&count>); });
  for (const std::size_t size : {std::size_t{1}, std::size_t{1} << 18}) {
    offload::batch calls(offload::within(1, 5ms));
    auto first = calls.add(fn<&count>);
    auto second = calls.add(fn<&count_long>, std::vector<int>(size));
    calls.submit();
    has_not_run([&] { first.get(); });
    has_not_run([&] { second.get(); });
  }
  gate = true;
  for (auto& one : sent) one.wait();
  EXPECT_EQ(offload::sync(1, fn<&echo>, 3), 3);
  EXPECT_EQ(counted.load(), 0);
  offload::sync(offload::within(1, 1h), fn<&count_long>, std::vector<int>(1 << 20));
  EXPECT_EQ(counted.load(), 1);
}

TEST_F(futures, deadlines_of_settled_calls_take_no_memory) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator keeps no such books";
#endif
  gate = true;
  const auto in_use = [] {
    const struct mallinfo2 now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
  };
  for (int i = 0; i < 1000; ++i) offload::sync(offload::within(1, 1h), fn<&echo>, i);
  const std::size_t before = in_use();
  for (int i = 0; i < 200'000; ++i) offload::sync(offload::within(1, 1h), fn<&echo>, i);
  EXPECT_LT(in_use(), before + 500'000) << "two hundred thousand entries would be 3.2 MB";
}

TEST_F(futures, wait_for_the_end_of_time) {
  using clock = std::chrono::steady_clock;
  static std::atomic<bool> let_go{false};
  let_go = false;
  const auto held = [] { return eventually([] { return let_go.load(); }); };
  auto one = offload::async(1, held);
  auto other = offload::async(2, held);
  EXPECT_FALSE(one.wait_until(std::chrono::time_point<clock, std::chrono::hours>::min()));
  std::thread later([] {
    std::this_thread::sleep_for(20ms);
    let_go = true;
  });
  EXPECT_TRUE(one.wait_until(std::chrono::time_point<clock, std::chrono::hours>::max()));
  later.join();
  EXPECT_TRUE(other.wait_until(std::chrono::time_point<clock, std::chrono::duration<double>>::max()));
  EXPECT_TRUE(other.wait_until(clock::time_point::max()));
}

}  // namespace future_test
