// put, get and copy between ranks without mapped memory that go on in the background. Run under mpirun with 3 ranks and
// HAM_MPI_MAP=0; rank 0 runs the tests. First argument `die`: a rank dies in the middle of one instead.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ham/offload.hpp"

using namespace ham;
using namespace std::chrono_literals;

namespace {

using words = std::vector<std::uint64_t>;
using word_ptr = offload::buffer_ptr<std::uint64_t>;

constexpr std::size_t large = (std::size_t{16} << 20) / sizeof(std::uint64_t);

words numbered(std::size_t count, std::uint64_t from) {
  words made(count);
  std::iota(made.begin(), made.end(), from);
  return made;
}

bool is_numbered(const words& what, std::uint64_t from) {
  return std::all_of(what.begin(), what.end(), [&](std::uint64_t one) { return one == from++; });
}

void be_busy(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
int nothing() { return 1; }
pid_t my_pid() { return ::getpid(); }
void die_in(int ms) {
  std::thread([ms] {
    be_busy(ms);
    ::_exit(3);
  }).detach();
}

TEST(transfers, go_on_while_the_caller_computes) {
  const words sent = numbered(large, 7);
  const offload::buffer<std::uint64_t> there(1, large);
  auto put = offload::put(sent.data(), there.ptr(), large);
  be_busy(2000);  // the host does not call HAM
  EXPECT_TRUE(put.wait_for(0s)) << "one poll is not enough for all of it";
  put.get();
  words got(large);
  auto get = offload::get(there.ptr(), got.data(), large);
  be_busy(2000);
  EXPECT_TRUE(get.wait_for(0s));
  get.get();
  EXPECT_EQ(got, sent);
}

TEST(transfers, are_over_for_who_waits) {
  for (const std::size_t count : {std::size_t{40'000}, large, 2 * large}) {
    const words sent = numbered(count, count);
    words got(count);
    const offload::buffer<std::uint64_t> one(1, count);
    const offload::buffer<std::uint64_t> two(2, count);
    offload::put(sent.data(), one.ptr(), count).get();
    offload::copy(one.ptr(), two.ptr(), count).get();
    offload::get(two.ptr(), got.data(), count).get();
    EXPECT_EQ(got, sent) << count;
    auto tested = offload::put(sent.data(), two.ptr(), count);
    while (!tested.test()) {
    }
    std::atomic<bool> went_on{false};
    offload::put(sent.data(), one.ptr(), count).then([&] { went_on = true; }).get();
    EXPECT_TRUE(went_on);
  }
}

TEST(transfers, many_at_once_from_several_threads) {
  static constexpr std::size_t count = 50'000;  // 400 KB
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([t] {
      std::vector<words> sent, got;
      std::vector<offload::buffer<std::uint64_t>> there;
      for (std::uint64_t i = 0; i < 60; ++i) {
        sent.push_back(numbered(count, 1000 * t + i));
        got.emplace_back(count);
        there.emplace_back(static_cast<node_t>(1 + (i + t) % 2), count);
      }
      std::vector<offload::future<void>> all;
      for (std::size_t i = 0; i < sent.size(); ++i) all.push_back(offload::put(sent[i].data(), there[i].ptr(), count));
      for (auto& one : all) one.get();
      all.clear();
      for (std::size_t i = 0; i < sent.size(); ++i) all.push_back(offload::get(there[i].ptr(), got[i].data(), count));
      for (auto& one : all) one.get();
      EXPECT_EQ(got, sent);
    });
  }
  for (std::thread& one : threads) one.join();
}

/// Puts numbers to one buffer of another node and reads those of another, over and over.
int exchange(word_ptr to, word_ptr from, std::size_t count, int rounds) {
  int wrong = 0;
  words got(count);
  for (int i = 0; i < rounds; ++i) {
    const words sent = numbered(count, static_cast<std::uint64_t>(i));
    auto put = offload::put(sent.data(), to, count);
    auto get = offload::get(from, got.data(), count);
    put.get();
    get.get();
    wrong += is_numbered(got, 12'345) ? 0 : 1;
  }
  offload::get_sync(to, got.data(), count);
  return wrong + (is_numbered(got, static_cast<std::uint64_t>(rounds) - 1) ? 0 : 1);
}

/// The numbers that two ranks give to their transfers are the same, and so are the ways of the bytes.
TEST(transfers, two_ranks_put_to_and_get_from_each_other) {
  for (const std::size_t count : {std::size_t{1000}, std::size_t{100'000}}) {
    const words constant = numbered(count, 12'345);
    const offload::buffer<std::uint64_t> here_to(0, count);
    const offload::buffer<std::uint64_t> here_from(0, count);
    const offload::buffer<std::uint64_t> there_to(1, count);
    const offload::buffer<std::uint64_t> there_from(1, count);
    offload::put_sync(constant.data(), here_from.ptr(), count);
    offload::put_sync(constant.data(), there_from.ptr(), count);
    auto theirs = offload::async(1, fn<&exchange>, here_to.ptr(), here_from.ptr(), count, 100);
    EXPECT_EQ(exchange(there_to.ptr(), there_from.ptr(), count, 100), 0) << count;
    EXPECT_EQ(theirs.get(), 0) << count;
  }
}

TEST(transfers, to_a_rank_that_is_busy_hold_up_no_other) {
  const words sent = numbered(large, 1);
  const offload::buffer<std::uint64_t> busy(1, large);
  const offload::buffer<std::uint64_t> idle(2, large);
  auto call = offload::async(1, fn<&be_busy>, 3000);
  be_busy(100);
  auto waits = offload::put(sent.data(), busy.ptr(), large);
  auto goes = offload::put(sent.data(), idle.ptr(), large);
  goes.get();
  EXPECT_EQ(offload::sync(2, fn<&nothing>), 1);
  EXPECT_FALSE(waits.wait_for(1ms)) << "its owner computes";
  waits.get();
  call.get();
  words got(large);
  offload::get_sync(busy.ptr(), got.data(), large);
  EXPECT_EQ(got, sent);
}

TEST(transfers, blocks_of_long_rows) {
  constexpr std::size_t columns = 20'000;
  constexpr std::size_t rows = 60;
  const words sent = numbered(rows * (columns + 7), 3);
  words got(sent.size());
  const offload::buffer<std::uint64_t> there(1, rows * (columns + 100));
  offload::put(sent.data(), there.ptr(),
               {.rows = rows, .columns = columns, .source_pitch = columns + 7, .target_pitch = columns + 100})
      .get();
  auto back =
      offload::get(there.ptr(), got.data(),
                   {.rows = rows, .columns = columns, .source_pitch = columns + 100, .target_pitch = columns + 7});
  be_busy(1000);
  back.get();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    ASSERT_EQ(got[i], i % (columns + 7) < columns ? sent[i] : 0U) << i;
  }
  auto beyond =
      offload::put(sent.data(), there.ptr(),
                   {.rows = rows, .columns = columns, .source_pitch = columns + 7, .target_pitch = columns + 200});
  EXPECT_THROW(beyond.get(), buffer_error);
}

TEST(transfers, outside_of_the_allocation_or_of_a_freed_one_are_refused) {
  const words sent = numbered(large, 1);
  word_ptr stale;
  {
    const offload::buffer<std::uint64_t> there(1, large);
    auto beyond = offload::put(sent.data(), there.ptr() + 1, large);
    EXPECT_THROW(beyond.get(), buffer_error);
    stale = there.ptr();
  }
  words got(large, 5);
  auto freed = offload::get(stale, got.data(), large);
  EXPECT_THROW(freed.get(), buffer_error);
  EXPECT_EQ(got, words(large, 5)) << "nothing moved";
}

/// Either all of it has moved before, or it is refused; what else is there is not touched, and the rank goes on.
TEST(transfers, into_memory_that_is_freed_in_the_middle) {
  const words sent = numbered(large, 1);
  const offload::buffer<std::uint64_t> bystander(1, large);
  offload::put_sync(sent.data(), bystander.ptr(), large);
  for (int delay_us = 0; delay_us < 12'000; delay_us += 1000) {
    for (const bool put : {true, false}) {
      words local(large);
      offload::buffer<std::uint64_t> there(1, large);
      auto moving =
          put ? offload::put(local.data(), there.ptr(), large) : offload::get(there.ptr(), local.data(), large);
      std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
      there = {};
      try {
        moving.get();
      } catch (const buffer_error&) {
      }
    }
  }
  EXPECT_EQ(offload::sync(1, fn<&nothing>), 1);
  words got(large);
  offload::get_sync(bystander.ptr(), got.data(), large);
  EXPECT_EQ(got, sent);
}

TEST(transfers, that_nobody_waits_for_are_completed) {
  static const words sent = numbered(large, 9);
  const offload::buffer<std::uint64_t> there(1, large);
  offload::put(sent.data(), there.ptr(), large).detach();
  words got(large);
  for (int i = 0; i < 1000 && !is_numbered(got, 9); ++i) {
    be_busy(10);
    offload::get_sync(there.ptr(), got.data(), large);
  }
  EXPECT_TRUE(is_numbered(got, 9));
}

/// They go in messages: what is started would hold the local memory until the rank goes on.
TEST(transfers, with_a_deadline_end_in_time_while_the_rank_is_stopped) {
  const words sent = numbered(large, 7);
  words got(large);
  const offload::buffer<std::uint64_t> there(1, large);
  const pid_t rank = offload::sync(1, fn<&my_pid>);
  const auto is_late = [](auto transfer) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THROW(transfer(offload::within(1, 300ms)).get(), deadline_exceeded);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
  };
  ASSERT_EQ(::kill(rank, SIGSTOP), 0);
  for (const std::size_t count : {std::size_t{100}, large}) {
    is_late([&](auto to) { return offload::get(to, there.ptr(), got.data(), count); });
    is_late([&](auto to) { return offload::put(to, sent.data(), there.ptr(), count); });
  }
  ASSERT_EQ(::kill(rank, SIGCONT), 0);
  EXPECT_EQ(offload::sync(1, fn<&nothing>), 1);
  EXPECT_EQ(got, words(large)) << "what comes late is dropped";
  offload::put_sync(offload::within(1, 60s), sent.data(), there.ptr(), large);
  offload::get_sync(offload::within(1, 60s), there.ptr(), got.data(), large);
  EXPECT_EQ(got, sent);
}

/// At the end of the job one is under way to a rank that computes for longer than it is waited for.
void leave_one_behind() {
  static words source(large);
  const word_ptr there = offload::allocate<std::uint64_t>(1, large);  // ends with its owner
  offload::async(1, fn<&be_busy>, 3500).detach();
  be_busy(50);
  offload::put(source.data(), there, large).detach();
}

int die() {
  const std::size_t count = 16 * large;
  words local(count);
  const offload::buffer<std::uint64_t> there(1, count);
  offload::sync(1, fn<&die_in>, 30);
  try {
    for (;;) {
      auto put = offload::put(local.data(), there.ptr(), count);
      auto get = offload::get(there.ptr(), local.data(), count);
      put.get();
      get.get();
    }
  } catch (const node_failure& failure) {  // where the launcher lets the other ranks live
    std::printf("%s\n", failure.what());
  }
  return 4;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string(argv[1]) == "die") return die();
  const int failed = RUN_ALL_TESTS();
  leave_one_behind();
  return failed;
}
