#include "base/observed_execution.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/counter_reading.hpp"
#include "base/memory_file.hpp"
#include "base/trace_part.hpp"

namespace ham::inline v1::base {
namespace {

TEST(observed_execution, is_counted_and_traced_with_one_look_at_the_clock) {
  own_counters counters(0);
  trace_setup memory;
  ASSERT_TRUE(begin_trace(memory));
  const std::uint64_t begun = read_ticks();
  { const observed_execution one({0, 3, 7, 12, trace_kind::stage}, &counters, begun); }
  end_trace();
  const auto read = parse_counters(read_counter_area(counters.file()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->executed, 1U);
  std::vector<std::byte> bytes(file_size(trace_file()));
  ASSERT_EQ(::pread(trace_file(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  const auto part = parse_trace_part(bytes);
  ASSERT_TRUE(part.has_value());
  ASSERT_EQ(part->threads.size(), 1U);
  ASSERT_EQ(part->threads[0].events.size(), 1U);
  const trace_event& event = part->threads[0].events[0];
  EXPECT_EQ(event.kind(), trace_kind::stage);
  EXPECT_EQ(event.begin, begun);
  EXPECT_EQ(event.peer(), 3);
  EXPECT_EQ(event.function(), 7U);
  EXPECT_EQ(event.call(), 12U);
}

TEST(observed_execution, the_next_one_is_counted_and_traced_by_itself) {
  own_counters counters(0);
  trace_setup memory;
  ASSERT_TRUE(begin_trace(memory));
  {
    observed_execution one({0, 3, 7, 12, trace_kind::stage}, &counters);
    static_cast<void>(one.next({0, 3, 8, 13, trace_kind::stage}, true));
  }
  end_trace();
  const auto read = parse_counters(read_counter_area(counters.file()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->executed, 2U);
  std::vector<std::byte> bytes(file_size(trace_file()));
  ASSERT_EQ(::pread(trace_file(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  const auto part = parse_trace_part(bytes);
  ASSERT_TRUE(part.has_value());
  ASSERT_EQ(part->threads.size(), 1U);
  const auto& events = part->threads[0].events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].function(), 7U);
  EXPECT_EQ(events[1].function(), 8U);
  EXPECT_EQ(events[1].call(), 13U);
}

TEST(observed_execution, one_that_a_trace_has_begun_is_not_in_a_later_trace) {
  own_counters counters(0);
  trace_setup memory;
  ASSERT_TRUE(begin_trace(memory));
  observed_execution one({0, 3, 7, 12, trace_kind::stage}, &counters);
  end_trace();
  static_cast<void>(one.next({0, 3, 8, 13, trace_kind::stage}, true));
  ASSERT_TRUE(begin_trace(memory));
  const std::uint64_t begun = read_ticks();
  static_cast<void>(one.next({0, 3, 9, 14, trace_kind::stage}, true));
  static_cast<void>(one.next({0, 3, 10, 15, trace_kind::stage}, true));
  end_trace();
  std::vector<std::byte> bytes(file_size(trace_file()));
  ASSERT_EQ(::pread(trace_file(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  const auto part = parse_trace_part(bytes);
  ASSERT_TRUE(part.has_value());
  std::size_t events = 0;
  for (const auto& thread : part->threads) {
    for (const trace_event& event : thread.events) {
      EXPECT_GE(event.begin, begun) << event.function();
      ++events;
    }
  }
  EXPECT_EQ(events, 1U);
}

TEST(observed_execution, says_whether_the_one_that_has_ended_was_quick) {
  own_counters counters(0);
  observed_execution one({0, 3, 7, 12, trace_kind::stage}, &counters);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(one.next({0, 3, 7, 13, trace_kind::stage}, false));
  bool quick = false;
  for (int i = 0; i < 100'000 && !quick; ++i) quick = one.next({0, 3, 7, 14, trace_kind::stage}, false);
  EXPECT_TRUE(quick);
}

TEST(observed_execution, a_sample_of_quick_ones_is_timed_for_all) {
  own_counters counters(0);
  constexpr int calls = 10'000;
  std::thread([&counters] {  // its sample begins anew
    observed_execution one({0, 3, 7, 12, trace_kind::stage}, &counters);
    for (int i = 1; i < calls; ++i) static_cast<void>(one.next({0, 3, 7, 13, trace_kind::stage}, true));
  })
      .join();
  const auto read = parse_counters(read_counter_area(counters.file()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->executed, static_cast<std::uint64_t>(calls));
  std::uint64_t timed = 0;
  for (const std::uint64_t one : read->took) timed += one;
  EXPECT_LE(timed, read->executed);
  EXPECT_GE(timed, read->executed - 2 * timed_sample::max_skipped);
}

}  // namespace
}  // namespace ham::base
