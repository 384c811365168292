// Emulated GPUs: contexts on blocks of their own, deadlines, stops, the death of the process, what tools read.
// link: ham::ham
// timeout: 300
#include <ham/device.hpp>
#include <ham/offload/counters.hpp>

#include <time.h>

#include "some_attempt.hpp"
#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace device_stop_test {

using word = offload::buffer_ptr<std::uint64_t>;

HAM_DEVICE int same(int value) { return value; }
/// Two of them end only if both run at once.
HAM_DEVICE bool meets(word mine, word other) {
  __atomic_store_n(mine.get(), 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(other.get(), __ATOMIC_ACQUIRE) == 0)
    if (device::stop_requested()) return false;
  return true;
}
HAM_DEVICE std::uint64_t until_stopped(word state) {
  if (device::rank() == 0) __atomic_store_n(state.get(), 1, __ATOMIC_RELEASE);
  std::uint64_t rounds = 1;
  while (!device::stop_requested()) ++rounds;
  device::sync();
  if (device::rank() == 0) __atomic_store_n(state.get(), 2, __ATOMIC_RELEASE);
  return rounds;
}
HAM_DEVICE std::uint64_t block_until_stopped(word state) { return until_stopped(state); }
HAM_DEVICE void traps(int) { device::trap("a planned fault"); }

}  // namespace device_stop_test

HAM_DEVICE_FUNCTION(device_stop_test::same, thread)
HAM_DEVICE_FUNCTION(device_stop_test::meets, thread)
HAM_DEVICE_FUNCTION(device_stop_test::until_stopped, thread)
HAM_DEVICE_FUNCTION(device_stop_test::block_until_stopped, block)
HAM_DEVICE_FUNCTION(device_stop_test::traps, thread)

namespace {

using namespace device_stop_test;

pid_t own_pid() { return ::getpid(); }

/// Words in the memory of node 1, zero at first.
struct words {
  explicit words(std::size_t count) : memory(1, count) {
    const std::vector<std::uint64_t> zeros(count);
    offload::put(zeros.data(), memory.ptr(), count).get();
  }
  [[nodiscard]] word at(std::size_t i) const { return memory.ptr() + static_cast<std::ptrdiff_t>(i); }
  [[nodiscard]] std::uint64_t value(std::size_t i) const {
    std::uint64_t read = 0;
    offload::get(at(i), &read, 1).get();
    return read;
  }
  offload::buffer<std::uint64_t> memory;
};

/// A deadline passes while node 1 executes until_stopped, which sees it: its result may still come before the host has
/// seen that as well. A busy machine may begin the function behind the deadline: then it gets a longer one.
void expect_deadline_is_seen(const words& in, std::size_t word_number) {
  for (auto deadline = 50ms; in.value(word_number) == 0; deadline *= 2) {
    try {
      EXPECT_GE(offload::async(offload::within(1, deadline), fn<&until_stopped>, in.at(word_number)).get(), 1U);
    } catch (const deadline_exceeded&) {
    }
    EXPECT_EQ(offload::sync(1, fn<&same>, 3), 3) << "it goes on behind the function";
  }
  EXPECT_TRUE(eventually([&] { return in.value(word_number) == 2; })) << "the function has seen the deadline";
}

TEST(device_contexts, run_at_the_same_time_on_blocks_of_their_own) {
  const runtime rt(nodes("cuda-emulated/blocks=3"));
  const words at(3);
  offload::context first(1);
  offload::context second(1);
  auto one = offload::async(first, fn<&meets>, at.at(0), at.at(1));
  auto other = offload::async(second, fn<&meets>, at.at(1), at.at(2));
  auto third = offload::async(1, fn<&meets>, at.at(2), at.at(0));
  EXPECT_TRUE(one.get());
  EXPECT_TRUE(other.get());
  EXPECT_TRUE(third.get()) << "of no context";
}

TEST(device_contexts, do_not_wait_for_each_others_backlog) {
  const runtime rt(nodes("cuda-emulated/blocks=2"));
  const words at(1);
  offload::context other(1);
  auto long_one = offload::async(offload::stoppable(1), fn<&until_stopped>, at.at(0));
  std::vector<offload::future<int>> behind;
  for (int i = 0; i < 100; ++i) behind.push_back(offload::async(1, fn<&same>, i));  // more than there is room for
  EXPECT_TRUE(eventually([&] { return at.value(0) == 1; }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(offload::sync(other, fn<&same>, i), i);
  EXPECT_FALSE(behind.front().test());
  EXPECT_TRUE(long_one.request_stop());
  EXPECT_GE(long_one.get(), 1U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(behind[static_cast<std::size_t>(i)].get(), i);
}

TEST(device_deadlines, pass_for_functions_that_poll) {
  const runtime rt(nodes("cuda-emulated:1"));
  const words at(1);
  expect_deadline_is_seen(at, 0);
}

TEST(device_stops, are_seen_by_all_threads_of_a_function) {
  const runtime rt(nodes("cuda-emulated:1"));
  const words at(1);
  auto result = offload::async(offload::stoppable(1), fn<&block_until_stopped>, at.at(0));
  EXPECT_TRUE(eventually([&] { return at.value(0) == 1; }));
  EXPECT_TRUE(result.request_stop());
  EXPECT_GE(result.get(), 1U);
  EXPECT_EQ(at.value(0), 2U);
}

TEST(device_stops, are_seen_where_a_processor_executes_the_function) {
  const runtime rt(nodes("shm:1"));
  const words at(2);
  auto result = offload::async(offload::stoppable(1), fn<&until_stopped>, at.at(0));
  EXPECT_TRUE(eventually([&] { return at.value(0) == 1; }));
  EXPECT_TRUE(result.request_stop());
  EXPECT_GE(result.get(), 1U);
  expect_deadline_is_seen(at, 1);
}

TEST(device_processes, that_are_killed_fail_with_the_functions_that_ran) {
  const runtime rt(nodes("cuda-emulated:2"));
  const words at(1);
  const pid_t pid = offload::sync(1, fn<&own_pid>);
  auto running = offload::async(1, fn<&until_stopped>, at.at(0));
  EXPECT_TRUE(eventually([&] { return at.value(0) == 1; }));
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  try {
    static_cast<void>(running.get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& failure) {
    EXPECT_NE(failure.function().find("until_stopped"), std::string::npos) << failure.what();
    EXPECT_EQ(failure.outcome(), call_outcome::may_have_run);
  }
  EXPECT_EQ(offload::sync(2, fn<&same>, 5), 5) << "the other device goes on";
}

/// Whether `fail` has an error of a device's process for its caller in time, once.
template <class Fail>
[[nodiscard]] bool fails_in_time(Fail fail, std::chrono::microseconds& took) {
  constexpr auto bar = 100ms;
  return in_some_attempt([&] {
    const runtime rt(nodes("cuda-emulated:1"));
    const words at(1);
    const pid_t pid = offload::sync(1, fn<&own_pid>);
    auto running = offload::async(1, fn<&until_stopped>, at.at(0));
    EXPECT_TRUE(eventually([&] { return at.value(0) == 1; }));
    const auto begin = std::chrono::steady_clock::now();
    fail(pid, running);
    took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    return took <= bar;
  });
}

TEST(device_processes, that_are_killed_fail_within_100_ms) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer takes its own time";
  std::chrono::microseconds took{};
  const auto kill = [](pid_t pid, offload::future<std::uint64_t>& running) {
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    EXPECT_THROW(static_cast<void>(running.get()), node_failure);
  };
  EXPECT_TRUE(fails_in_time(kill, took)) << took.count() << " us";
}

TEST(device_processes, whose_function_traps_fail_within_100_ms) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer takes its own time";
  std::chrono::microseconds took{};
  const auto trap = [](pid_t, offload::future<std::uint64_t>&) {
    offload::context other(1);  // on another block
    EXPECT_THROW(offload::sync(other, fn<&traps>, 1), node_failure);
  };
  EXPECT_TRUE(fails_in_time(trap, took)) << took.count() << " us";
}

/// What its processor does in a second, behind the calls and behind a put, when the kernel has left.
TEST(device_processes, that_are_idle_take_no_processor_time) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer has threads of its own";
  constexpr auto time = 1s;
  constexpr auto most = std::chrono::nanoseconds(time) / 100;
  const runtime rt(nodes("cuda-emulated/linger=1000"));
  const words at(1);
  const auto is_resident = [] { return read_counters(::getpid()).at(0).nodes.at(1).device.resident; };
  clockid_t of_target{};
  ASSERT_EQ(::clock_getcpuclockid(offload::sync(1, fn<&own_pid>), &of_target), 0);
  const auto used = [&] {
    timespec now{};
    EXPECT_EQ(::clock_gettime(of_target, &now), 0);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  std::chrono::nanoseconds took{};
  EXPECT_TRUE(in_some_attempt([&] {
    for (int i = 0; i < 9; ++i) EXPECT_EQ(offload::sync(1, fn<&same>, i), i);
    const std::uint64_t value = 5;
    offload::put(&value, at.at(0), 1).get();
    EXPECT_TRUE(eventually([&] { return !is_resident(); }));
    const std::chrono::nanoseconds before = used();
    std::this_thread::sleep_for(time);
    took = used() - before;
    return took <= most;
  })) << took.count()
      << " ns";
}

TEST(device_counters, tell_whether_the_kernel_is_resident) {
  const runtime rt(nodes("cuda-emulated/linger=1000,shm:1"));
  const auto device_of = [](std::size_t node) { return read_counters(::getpid()).at(0).nodes.at(node).device; };
  const words at(1);
  EXPECT_TRUE(device_of(1).there);
  EXPECT_FALSE(device_of(1).resident) << "there was no call yet";
  EXPECT_EQ(device_of(1).launches, 0U);
  auto running = offload::async(offload::stoppable(1), fn<&until_stopped>, at.at(0));
  EXPECT_TRUE(eventually([&] { return at.value(0) == 1; }));
  EXPECT_TRUE(device_of(1).resident);
  running.request_stop();
  EXPECT_GE(running.get(), 1U);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(offload::sync(1, fn<&same>, i), i);
  EXPECT_EQ(device_of(1).calls, 10U);
  EXPECT_GE(device_of(1).launches, 1U);
  EXPECT_TRUE(eventually([&] { return !device_of(1).resident; })) << "an idle device";
  EXPECT_FALSE(device_of(2).there);
  EXPECT_FALSE(device_of(0).there);
}

TEST(device_counters, show_how_long_the_kernel_stays) {
  runtime_options how = nodes("cuda-emulated,cuda-emulated/linger=1000");
  how.cuda_linger = 600s;
  const runtime rt(how);
  const auto device_of = [](std::size_t node) { return read_counters(::getpid()).at(0).nodes.at(node).device; };
  for (const node_t node : {1, 2}) EXPECT_EQ(offload::sync(node, fn<&same>, node), node);
  EXPECT_TRUE(eventually([&] { return !device_of(2).resident; })) << "its group says so";
  EXPECT_TRUE(device_of(1).resident) << "as HAM_CUDA_LINGER says";
}

}  // namespace
