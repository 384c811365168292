// Where continuations and coroutines go on; what becomes of work that is dropped, or outlives its runtime.
#include "ham/offload/executor.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace executor_test {

int echo(int value) { return value; }
int fail(const std::string& why) { throw std::runtime_error(why); }

class executors : public two_targets {};

/// Keeps work until it is told what to do with it.
struct keeping_executor {
  std::shared_ptr<std::vector<offload::work>> kept = std::make_shared<std::vector<offload::work>>();
  void execute(offload::work what) const { kept->push_back(std::move(what)); }
};
struct dropping_executor {
  void execute(const offload::work&) const {}
};
struct throwing_executor {
  void execute(const offload::work&) const { throw std::out_of_range("full"); }
};
struct thread_executor {
  void execute(offload::work what) const { std::thread(std::move(what)).detach(); }
};

TEST_F(executors, a_queue_runs_continuations_where_it_is_run) {
  offload::work_queue queue;
  std::thread::id ran_on;
  auto sum = offload::async(1, fn<&echo>, 20).then(std::ref(queue), [&](int value) {
    ran_on = std::this_thread::get_id();
    return value + 1;
  });
  EXPECT_TRUE(eventually([&] {
    offload::progress();
    return queue.size() == 1;
  }));
  EXPECT_FALSE(sum.test()) << "nobody has run it";
  std::thread other([&] {
    EXPECT_EQ(queue.run(), 1U);
    EXPECT_EQ(ran_on, std::this_thread::get_id());
  });
  other.join();
  EXPECT_EQ(sum.get(), 21);
  EXPECT_EQ(queue.run(), 0U);
  EXPECT_EQ(queue.run_for(1ms), 0U);
}

TEST_F(executors, run_for_waits_for_work) {
  offload::work_queue queue;
  std::thread other([&] { EXPECT_EQ(queue.run_for(20s), 1U); });
  auto sum = offload::async(1, fn<&echo>, 1).then(std::ref(queue), [](int value) { return value; });
  EXPECT_EQ(sum.get(), 1);
  other.join();
}

TEST_F(executors, of_all_kinds) {
  EXPECT_EQ(offload::async(1, fn<&echo>, 1).then(offload::inline_executor{}, [](int v) { return v + 1; }).get(), 2);
  EXPECT_EQ(offload::async(1, fn<&echo>, 1).then(offload::pool_executor{}, [](int v) { return v + 2; }).get(), 3);
  EXPECT_EQ(offload::async(1, fn<&echo>, 1).then(thread_executor{}, [](int v) { return v + 3; }).get(), 4);
  bool called = false;
  offload::async(1, [] {}).then(offload::pool_executor{}, [&] { called = true; }).get();
  EXPECT_TRUE(called);
}

TEST_F(executors, work_may_call_other_nodes_and_give_futures) {
  auto sum = offload::async(1, fn<&echo>, 1).then(thread_executor{}, [](int value) {
    return offload::async(2, fn<&echo>, offload::sync(1, fn<&echo>, value + 1) + 1);
  });
  EXPECT_EQ(sum.get(), 3);
  auto invalid = offload::async(1, fn<&echo>, 1).then(thread_executor{}, [](int) { return offload::future<int>(); });
  EXPECT_THROW((void)invalid.get(), error);
}

TEST_F(executors, errors_pass_by_the_executor_or_are_seen_there) {
  keeping_executor ex;
  auto passed = offload::async(1, fn<&fail>, std::string("passed")).then(ex, [](int) {});
  EXPECT_THROW(passed.get(), std::runtime_error);
  EXPECT_TRUE(ex.kept->empty());
  auto seen =
      offload::async(1, fn<&fail>, std::string("seen"))
          .then_result(offload::pool_executor{}, [](offload::future<int> settled) { return settled.has_value(); });
  EXPECT_FALSE(seen.get());
  auto thrown =
      offload::async(1, fn<&echo>, 1).then(offload::pool_executor{}, [](int) -> int { throw std::logic_error("x"); });
  EXPECT_THROW((void)thrown.get(), std::logic_error);
}

TEST_F(executors, that_drop_or_refuse_work_fail_its_future) {
  auto dropped = offload::async(1, fn<&echo>, 1).then(dropping_executor{}, [](int) {});
  EXPECT_NE(message_of<error>([&] { dropped.get(); }).find("dropped"), std::string::npos);
  auto refused = offload::async(1, fn<&echo>, 1).then(throwing_executor{}, [](int) {});
  EXPECT_THROW(refused.get(), std::out_of_range);
  {
    offload::work_queue queue;
    dropped = offload::async(1, fn<&echo>, 1).then(std::ref(queue), [](int) {});
    EXPECT_TRUE(eventually([&] {
      offload::progress();
      return queue.size() == 1;
    }));
  }
  EXPECT_THROW(dropped.get(), error);
}

TEST_F(executors, work_runs_once) {
  keeping_executor ex;
  int calls = 0;
  auto one = offload::async(1, fn<&echo>, 1).then(ex, [&](int) { ++calls; });
  EXPECT_TRUE(eventually([&] {
    offload::progress();
    return !ex.kept->empty();
  }));
  const offload::work copy = ex.kept->front();
  copy();
  copy();
  ex.kept->clear();
  one.get();
  EXPECT_EQ(calls, 1);
}

TEST_F(executors, shared_futures_and_callbacks_take_them_as_well) {
  auto shared = offload::async(1, fn<&echo>, 5).share();
  EXPECT_EQ(shared.then(offload::pool_executor{}, [](const int& value) { return value; }).get(), 5);
  std::atomic<int> got{0};
  offload::async(1, fn<&echo>, 6).on_result(thread_executor{}, [&](offload::future<int> one) { got = one.get(); });
  EXPECT_TRUE(eventually([&] {
    offload::progress();
    return got == 6;
  }));
}

TEST(executors_end, work_that_outlives_its_runtime_runs_into_the_void) {
  keeping_executor ex;
  offload::future<int> outlives;
  int calls = 0;
  {
    runtime job(loopback(1));
    outlives = offload::async(1, fn<&echo>, 1).then(ex, [&](int value) {
      ++calls;
      return value;
    });
    EXPECT_TRUE(eventually([&] {
      offload::progress();
      return !ex.kept->empty();
    }));
  }
  EXPECT_THROW((void)outlives.get(), error);
  ex.kept->front()();
  ex.kept->clear();
  EXPECT_EQ(calls, 1);
}

TEST(executors_end, runtimes_end_beside_threads_that_deliver) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> done{0};
    {
      runtime job(loopback(1));
      for (int i = 0; i < 8; ++i)
        offload::async(1, fn<&echo>, i).then(thread_executor{}, [&](int) { ++done; }).detach();
      offload::sync(1, fn<&echo>, round);
      offload::progress();
    }
    EXPECT_TRUE(eventually([&] { return done == 8; }));
  }
}

// ---- coroutines

offload::task<std::thread::id> hops(offload::work_queue& queue, std::thread::id& before) {
  const int value = co_await offload::async(1, fn<&echo>, 1);
  before = std::this_thread::get_id();
  co_await offload::on(std::ref(queue), offload::async(1, fn<&echo>, value));
  co_return std::this_thread::get_id();
}

TEST_F(executors, coroutines_go_on_where_the_executor_says) {
  offload::work_queue queue;
  std::thread::id before;
  auto where = hops(queue, before);
  EXPECT_TRUE(eventually([&] {
    offload::progress();
    return queue.size() == 1;
  }));
  EXPECT_EQ(before, std::this_thread::get_id());
  std::thread::id runner;
  std::thread other([&] {
    runner = std::this_thread::get_id();
    EXPECT_EQ(queue.run(), 1U);
  });
  other.join();
  EXPECT_EQ(where.get(), runner);
}

template <class Executor>
offload::task<int> through(Executor ex, bool fails) {
  int sum = 0;
  for (int i = 0; i < 10; ++i) sum += co_await offload::on(ex, offload::async(1 + i % 2, fn<&echo>, i));
  if (fails) co_await offload::on(ex, offload::async(1, fn<&fail>, std::string("awaited")));
  co_return sum;
}

TEST_F(executors, coroutines_hop_many_times_and_throw) {
  EXPECT_EQ(through(offload::pool_executor{}, false).get(), 45);
  EXPECT_EQ(through(offload::inline_executor{}, false).get(), 45);
  auto failing = through(thread_executor{}, true);
  EXPECT_EQ(message_of<std::runtime_error>([&] { (void)failing.get(); }), "awaited");
  auto dropped = through(dropping_executor{}, false);
  EXPECT_NE(message_of<error>([&] { (void)dropped.get(); }).find("dropped"), std::string::npos);
  auto refused = through(throwing_executor{}, false);
  EXPECT_THROW((void)refused.get(), std::out_of_range);
}

/// Tells whether a task has settled when a variable of its coroutine ends.
struct observer {
  offload::task<int>* task = nullptr;
  bool ended = false;
  bool had_settled = false;
};
struct observed_variable {
  observer& by;
  ~observed_variable() {
    by.ended = true;
    by.had_settled = by.task->test();
  }
};
offload::task<int> with_a_variable(offload::work_queue& queue, observer& by, bool fails) {
  const observed_variable variable{by};
  const int value = co_await offload::on(std::ref(queue), offload::async(1, fn<&echo>, 7));
  if (fails) throw std::out_of_range("it fails");
  co_return value;
}

TEST_F(executors, a_task_settles_when_the_variables_of_its_coroutine_are_gone) {
  for (const bool fails : {false, true}) {
    offload::work_queue queue;
    observer by;
    auto made = with_a_variable(queue, by, fails);
    by.task = &made;
    EXPECT_TRUE(eventually([&] {
      offload::progress();
      return queue.run() == 1U;
    }));
    EXPECT_TRUE(by.ended);
    EXPECT_FALSE(by.had_settled);
    EXPECT_TRUE(made.test());
    if (fails)
      EXPECT_EQ(message_of<std::out_of_range>([&] { (void)made.get(); }), "it fails");
    else
      EXPECT_EQ(made.get(), 7);
  }
}

}  // namespace executor_test
