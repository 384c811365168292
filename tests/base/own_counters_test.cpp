// What a node counts, and what others read of it.
#include "base/own_counters.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/counter_reading.hpp"

namespace ham::inline v1::base {
namespace {

counter_reading read_counts(const own_counters& of) {
  const auto read = parse_counters(read_counter_area(of.file()));
  EXPECT_TRUE(read.has_value());
  return read.value_or(counter_reading());
}

std::uint64_t timed_in(const counter_reading& of) {
  std::uint64_t all = 0;
  for (const std::uint64_t one : of.took) all += one;
  return all;
}

TEST(own_counters, say_whose_they_are) {
  const own_counters of(7);
  ASSERT_TRUE(of.on());
  const counter_reading read = read_counts(of);
  EXPECT_EQ(read.node, 7);
  EXPECT_EQ(read.pid, ::getpid());
  EXPECT_EQ(read.serial, of.serial());
  EXPECT_FALSE(read.program.empty());
  EXPECT_TRUE(read.peers.empty());
  EXPECT_GT(own_counters(7).serial(), of.serial());
}

TEST(own_counters, keep_what_peers_had_when_their_rows_are_given_back) {
  own_counters of(0);
  std::optional<counter_row_of_peer> one(of.claim_row(1));
  const counter_row_of_peer two = of.claim_row(2);
  count_more((*one)->traffic.calls_sent, 3);
  count_more((*one)->traffic.bytes_received, 100);
  count_more(two->traffic.calls_sent, 4);
  EXPECT_EQ(read_counts(of).peers.size(), 2U);
  EXPECT_EQ(read_counts(of).all.calls_sent, 7U);
  const counter_row* const place = &**one;
  one.reset();
  const counter_reading left = read_counts(of);
  ASSERT_EQ(left.peers.size(), 1U);
  EXPECT_EQ(left.peers[0].node, 2);
  EXPECT_EQ(left.all.calls_sent, 7U);
  EXPECT_EQ(left.all.bytes_received, 100U);
  const counter_row_of_peer three = of.claim_row(3);
  EXPECT_EQ(&*three, place) << "rows are used again";
  EXPECT_EQ(three->traffic.calls_sent.load(), 0U);
}

TEST(own_counters, give_memory_of_its_own_to_peers_beyond_the_last_row) {
  own_counters of(0);
  std::vector<counter_row_of_peer> rows;
  for (std::size_t i = 0; i <= counter_area::max_rows; ++i) rows.push_back(of.claim_row(static_cast<std::int32_t>(i)));
  count_more(rows.back()->traffic.calls_sent, 1);
  const counter_reading read = read_counts(of);
  EXPECT_EQ(read.peers.size(), counter_area::max_rows);
  EXPECT_EQ(read.all.calls_sent, 0U);
}

TEST(own_counters, tell_how_the_node_waits) {
  own_counters of(0);
  EXPECT_LT(read_counts(of).polled_ago_ns, 0);
  of.note_polled(now_ns());
  of.note_asleep(true);
  of.count_sleep();
  of.count_set_aside(3);
  of.count_set_aside(-1);
  of.count_in_contexts(4);
  of.count_in_pool(5);
  const counter_reading read = read_counts(of);
  EXPECT_GE(read.polled_ago_ns, 0);
  EXPECT_TRUE(read.asleep);
  EXPECT_EQ(read.sleeps, 1U);
  EXPECT_EQ(read.set_aside, 2U);
  EXPECT_EQ(read.in_contexts, 4U);
  EXPECT_EQ(read.in_pool, 5U);
  of.note_asleep(false);
  EXPECT_FALSE(read_counts(of).asleep);
}

TEST(own_counters, tell_what_its_device_does) {
  own_counters of(0);
  using state = counter_head::device_state;
  EXPECT_EQ(read_counts(of).device, state::none);
  of.note_device(state::resident);
  of.count_device_launch();
  for (int i = 0; i < 3; ++i) of.count_device_call();
  EXPECT_EQ(read_counts(of).device, state::resident);
  EXPECT_EQ(read_counts(of).device_calls, 3U);
  EXPECT_EQ(read_counts(of).device_launches, 1U);
  of.note_device(state::idle);
  EXPECT_EQ(read_counts(of).device, state::idle);
  of.note_device(static_cast<state>(77));
  EXPECT_EQ(read_counts(of).device, state::none) << "nothing that is read is believed";
}

TEST(own_counters, count_executions_by_what_they_took) {
  own_counters of(0);
  constexpr std::uint64_t ago = 1'000'000;
  {
    const counted_execution outer(&of, read_ticks() - ago);
    EXPECT_EQ(read_counts(of).executing, 1U);
    const counted_execution inner(&of, read_ticks());
    EXPECT_EQ(read_counts(of).executing, 1U) << "the same thread";
  }
  const counter_reading read = read_counts(of);
  EXPECT_EQ(read.executing, 0U);
  EXPECT_EQ(read.executed, 2U);
  EXPECT_EQ(timed_in(read), 2U) << "neither began at once after another one";
  EXPECT_GE(read.ticks, ago);
  std::uint64_t slow = 0;
  for (std::size_t i = time_buckets::of(ago); i < time_buckets::count; ++i) slow += read.took[i];
  EXPECT_GE(slow, 1U);
}

TEST(own_counters, time_what_they_do_not_know_the_exact_begin_of_from_when_they_are_told) {
  own_counters of(0);
  constexpr std::uint64_t ago = std::uint64_t{1} << 40U;
  { const counted_execution one(&of, read_ticks() - ago, false); }
  const counter_reading read = read_counts(of);
  EXPECT_EQ(read.executed, 1U);
  EXPECT_EQ(timed_in(read), 1U);
  EXPECT_LT(read.ticks, ago);
}

TEST(own_counters, leave_calls_to_the_thread_that_takes_them_over) {
  own_counters of(0);
  {
    const counted_execution outer(&of, read_ticks());
    {
      const counted_execution given_away(&of, read_ticks());
      counted_execution::leave_to_other();
    }
    EXPECT_EQ(read_counts(of).executed, 0U);
  }
  EXPECT_EQ(read_counts(of).executed, 1U) << "the outer one is not";
  counted_execution::leave_to_other();  // outside of any: nothing
}

TEST(own_counters, count_executions_that_follow_in_the_place_of_one_another) {
  own_counters of(0);
  {
    counted_execution one(&of, read_ticks());
    one.next(read_ticks());
    EXPECT_EQ(read_counts(of).executed, 1U);
    EXPECT_EQ(read_counts(of).executing, 1U);
    counted_execution::leave_to_other();
    one.next(read_ticks());
    EXPECT_EQ(read_counts(of).executed, 1U) << "another thread counts the second one";
  }
  EXPECT_EQ(read_counts(of).executed, 2U);
  EXPECT_EQ(read_counts(of).executing, 0U);
  counted_execution nobodys(nullptr, read_ticks());
  nobodys.next(read_ticks());
}

TEST(own_counters, count_quick_executions_together) {
  own_counters of(0);
  std::thread([&of] {  // its sample begins anew
    const std::uint64_t begun = read_ticks();
    std::uint64_t executed = 0;
    {
      counted_execution one(&of, begun);
      EXPECT_FALSE(one.skip()) << "it is timed";
      for (int i = 0; i < 1000; ++i) {
        const counter_reading read = read_counts(of);
        EXPECT_LE(read.executed, executed);
        EXPECT_EQ(read.executing, 1U);
        if (!one.skip()) one.next(begun);
        ++executed;
      }
    }
    const counter_reading read = read_counts(of);
    EXPECT_EQ(read.executed, executed + 1);
    EXPECT_EQ(read.executing, 0U);
    EXPECT_GE(timed_in(read), read.executed - timed_sample::max_skipped);
    EXPECT_LE(timed_in(read), read.executed);
  })
      .join();
}

TEST(own_counters, count_what_is_nested_in_quick_executions) {
  own_counters of(0);
  std::thread([&of] {
    const std::uint64_t begun = read_ticks();
    {
      counted_execution one(&of, begun);
      for (int i = 0; i < 1000; ++i) {
        const counted_execution inner(&of, begun);
        if (!one.skip()) one.next(begun);
      }
    }
    EXPECT_EQ(read_counts(of).executed, 2001U);
  }).join();
}

TEST(own_counters, leave_one_of_quick_executions_to_another_thread) {
  own_counters of(0);
  std::thread([&of] {
    const std::uint64_t begun = read_ticks();
    {
      counted_execution one(&of, begun);
      one.next(begun);
      for (int i = 0; i < 100; ++i) {
        if (!one.skip()) one.next(begun);
        if (i % 10 == 0) counted_execution::leave_to_other();
      }
    }
    EXPECT_EQ(read_counts(of).executed, 102U - 10U);
    EXPECT_EQ(read_counts(of).executing, 0U);
  }).join();
}

TEST(own_counters, count_for_the_node_that_a_call_is_of) {
  own_counters one(1);
  own_counters two(2);
  for (int i = 0; i < 10; ++i) {
    const counted_execution outer(&one, read_ticks());
    const counted_execution inner(&two, read_ticks());
    const counted_execution nobodys(nullptr, read_ticks());
  }
  EXPECT_EQ(read_counts(one).executed, 10U);
  EXPECT_EQ(read_counts(two).executed, 10U);
}

TEST(own_counters, time_some_of_many_executions_for_all) {
  own_counters of(0);
  constexpr std::uint64_t calls = 10'000;
  std::thread([&of] {  // its sample begins anew
    const std::uint64_t from = read_ticks();
    for (std::uint64_t i = 0; i < calls; ++i) const counted_execution one(&of, from + i);
  })
      .join();
  const counter_reading read = read_counts(of);
  EXPECT_EQ(read.executed, calls);
  EXPECT_LE(timed_in(read), calls);
  EXPECT_GE(timed_in(read), calls - timed_sample::max_skipped);
}

TEST(timed_sample, takes_each_one_that_does_not_follow_at_once) {
  timed_sample sample;
  std::uint64_t now = 1'000'000;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sample.next(now += timed_sample::quick_ticks), 1U);
  EXPECT_EQ(sample.next(now - 1'000), 1U) << "the clock of another core may be behind";
}

/// Calls of two functions by turns: a sample of each second, fourth, 16th one would see one of them only.
TEST(timed_sample, is_fair_to_calls_by_turns) {
  for (const std::uint64_t step : {1U, 20U, 100U, 256U, 1000U}) {
    if (step >= timed_sample::quick_ticks) continue;
    timed_sample sample;
    constexpr std::uint32_t calls = 100'000;
    std::uint64_t counted[2] = {};
    std::uint32_t timed = 0;
    std::uint32_t skipped = 0;
    for (std::uint32_t i = 0; i < calls; ++i) {
      const std::uint32_t weight = sample.next((std::uint64_t{1} << 40) + i * step);
      counted[i % 2] += weight;
      timed += weight == 0 ? 0 : 1;
      skipped = weight == 0 ? skipped + 1 : 0;
      ASSERT_LE(skipped, timed_sample::max_skipped);
    }
    EXPECT_LT(timed, calls / 10) << step;
    EXPECT_GE(counted[0] + counted[1], calls - timed_sample::max_skipped) << step;
    EXPECT_LE(counted[0] + counted[1], calls) << step;
    EXPECT_GT(counted[0], calls * 2 / 5) << step;
    EXPECT_GT(counted[1], calls * 2 / 5) << step;
  }
}

TEST(timed_sample, leaves_the_turn_of_one_that_is_none_to_the_next) {
  timed_sample sample;
  std::uint64_t now = timed_sample::quick_ticks;
  EXPECT_EQ(sample.next(now), 1U);
  std::uint64_t counted = 0;
  constexpr std::uint64_t calls = 10'000;
  for (std::uint64_t i = 0; i < calls; ++i) {
    counted += sample.next(++now);
    for (int left = static_cast<int>(i % 4); left != 0; --left) sample.take_back(sample.next(++now));
  }
  EXPECT_LE(counted, calls);
  EXPECT_GE(counted, calls - timed_sample::max_skipped);
}

/// More threads at a time than there are blocks, and threads that come after them.
TEST(own_counters, lose_no_execution_of_many_threads) {
  own_counters of(0);
  constexpr std::size_t threads = 2 * counter_area::max_threads;
  constexpr int calls = 1000;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < threads; ++i) {
      all.emplace_back([&of] {
        for (int call = 0; call < calls; ++call) const counted_execution one(&of, read_ticks());
      });
    }
    for (std::thread& one : all) one.join();
    EXPECT_EQ(read_counts(of).executed, (round + 1U) * threads * calls);
  }
  EXPECT_EQ(read_counts(of).executing, 0U);
}

TEST(own_counters, of_the_parent_are_not_touched_by_a_child) {
  own_counters of(0);
  const counter_row_of_peer row = of.claim_row(1);
  const counted_execution open(&of, read_ticks());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    of.detach_after_fork();
    count_more(row->traffic.calls_sent, 100);
    { const counted_execution one(&of, read_ticks()); }
    of.count_sleep();
    ::_exit(of.file() < 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const counter_reading read = read_counts(of);
  EXPECT_EQ(read.all.calls_sent, 0U);
  EXPECT_EQ(read.sleeps, 0U);
  EXPECT_EQ(read.executed, 0U);
  EXPECT_EQ(read.executing, 1U);
}

}  // namespace
}  // namespace ham::base
