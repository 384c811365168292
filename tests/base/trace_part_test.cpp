#include "base/trace_part.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace {

using namespace ham::base;

/// A file as a process writes it.
class written_part {
 public:
  written_part() : bytes_(trace_step) {
    head().magic = trace_head::magic_value;
    head().job = 5;
    head().node = 2;
    head().source = tick_source::x86_counter;
    head().start = {1000, 50'000};
    head().latest[1] = {3000, 51'000};
    head().which = 1;
    std::strcpy(head().machine, "there");
  }
  trace_head& head() { return *reinterpret_cast<trace_head*>(bytes_.data()); }
  trace_chunk& add_chunk(trace_chunk::content what, std::uint32_t thread = 9) {
    bytes_.resize(bytes_.size() + trace_step);
    auto* const chunk = reinterpret_cast<trace_chunk*>(bytes_.data() + bytes_.size() - trace_step);
    chunk->magic = trace_chunk::magic_value;
    chunk->bytes = trace_step;
    chunk->holds = what;
    chunk->node = 2;
    chunk->thread = thread;
    return *chunk;
  }
  void add_event(trace_chunk& into, std::size_t place, const trace_event& one) {
    std::memcpy(reinterpret_cast<std::byte*>(&into + 1) + place * sizeof one, static_cast<const void*>(&one),
                sizeof one);
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

trace_event slept(std::uint64_t at) { return trace_event::make(trace_kind::slept, at, at + 1, 0, 0); }

TEST(trace_part, is_read) {
  written_part file;
  trace_chunk& chunk = file.add_chunk(trace_chunk::events);
  file.add_event(chunk, 0, slept(1));
  file.add_event(chunk, 1, slept(2));
  const auto part = parse_trace_part(file.bytes());
  ASSERT_TRUE(part);
  EXPECT_EQ(part->job, 5U);
  EXPECT_EQ(part->node, 2);
  EXPECT_EQ(part->machine, "there");
  EXPECT_DOUBLE_EQ(part->tick_ns(), 0.5);
  ASSERT_EQ(part->threads.size(), 1U);
  EXPECT_EQ(part->threads[0].id, 9U);
  ASSERT_EQ(part->threads[0].events.size(), 2U);
  EXPECT_EQ(part->threads[0].events[1].begin, 2U);
}

TEST(trace_part, of_another_file_is_none) {
  EXPECT_FALSE(parse_trace_part({}));
  EXPECT_FALSE(parse_trace_part(std::vector<std::byte>(trace_step)));
}

TEST(trace_part, has_chunks_in_the_order_of_their_serials_and_copies_once) {
  written_part file;
  trace_chunk& live = file.add_chunk(trace_chunk::events);
  live.serial = 7;
  file.add_event(live, 0, slept(3));
  file.add_event(live, 1, slept(4));
  trace_chunk& first = file.add_chunk(trace_chunk::events);
  first.serial = 6;
  file.add_event(first, 0, slept(1));
  file.add_event(first, 1, slept(2));
  trace_chunk& broken_copy = file.add_chunk(trace_chunk::events);
  broken_copy.serial = 7;
  file.add_event(broken_copy, 0, slept(3));
  trace_chunk& other = file.add_chunk(trace_chunk::events, 10);
  other.serial = 6;
  file.add_event(other, 0, slept(9));
  const auto part = parse_trace_part(file.bytes());
  ASSERT_TRUE(part);
  ASSERT_EQ(part->threads.size(), 2U);
  ASSERT_EQ(part->threads[0].events.size(), 4U);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(part->threads[0].events[i].begin, i + 1);
  EXPECT_EQ(part->threads[1].events.size(), 1U);
}

TEST(trace_part, may_end_within_its_last_chunk) {
  written_part file;
  trace_chunk& chunk = file.add_chunk(trace_chunk::events);
  file.add_event(chunk, 0, slept(1));
  file.add_event(chunk, 1, slept(2));
  file.bytes().resize(trace_step + sizeof(trace_chunk) + sizeof(trace_event));
  const auto part = parse_trace_part(file.bytes());
  ASSERT_TRUE(part);
  ASSERT_EQ(part->threads.size(), 1U);
  EXPECT_EQ(part->threads[0].events.size(), 1U);
}

TEST(trace_part, of_an_answered_wait_has_the_answer_and_the_wait) {
  written_part file;
  trace_chunk& chunk = file.add_chunk(trace_chunk::events);
  file.add_event(chunk, 0, trace_event::make(trace_kind::answered, 10, 15, 3, trace_event::pair(1, 2)));
  const auto part = parse_trace_part(file.bytes());
  ASSERT_TRUE(part);
  ASSERT_EQ(part->threads.size(), 1U);
  const auto& events = part->threads[0].events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind(), trace_kind::settled);
  EXPECT_EQ(events[0].begin, 15U);
  EXPECT_EQ(events[0].length(), 0U);
  EXPECT_EQ(events[1].kind(), trace_kind::waited);
  EXPECT_EQ(events[1].begin, 10U);
  EXPECT_EQ(events[1].length(), 5U);
  for (const trace_event& one : events) {
    EXPECT_EQ(one.peer(), 3);
    EXPECT_EQ(one.call(), 2U);
  }
}

TEST(trace_part, ends_at_an_event_that_was_not_written) {
  written_part file;
  trace_chunk& chunk = file.add_chunk(trace_chunk::events);
  file.add_event(chunk, 0, slept(1));
  file.add_event(chunk, 2, slept(3));
  EXPECT_EQ(parse_trace_part(file.bytes())->threads[0].events.size(), 1U);
}

TEST(trace_part, goes_on_behind_a_chunk_that_was_being_claimed) {
  written_part file;
  file.add_chunk(trace_chunk::events).magic = 0;
  file.add_event(file.add_chunk(trace_chunk::events), 0, slept(1));
  const auto part = parse_trace_part(file.bytes());
  ASSERT_EQ(part->threads.size(), 1U);
  EXPECT_EQ(part->threads[0].events.size(), 1U);
}

TEST(trace_part, bounds_the_sizes_of_chunks) {
  written_part file;
  file.add_chunk(trace_chunk::events).bytes = 0xffff0000;
  file.add_chunk(trace_chunk::events).bytes = 1;
  file.add_chunk(trace_chunk::events).bytes = 0;
  EXPECT_TRUE(parse_trace_part(file.bytes())->threads.empty());
  file.bytes().resize(file.bytes().size() - 10);  // torn
  EXPECT_TRUE(parse_trace_part(file.bytes())->threads.empty());
}

TEST(trace_part, joins_the_chunks_of_a_thread) {
  written_part file;
  file.add_event(file.add_chunk(trace_chunk::events, 9), 0, slept(1));
  file.add_event(file.add_chunk(trace_chunk::events, 8), 0, slept(2));
  file.add_event(file.add_chunk(trace_chunk::events, 9), 0, slept(3));
  const auto part = parse_trace_part(file.bytes());
  ASSERT_EQ(part->threads.size(), 2U);
  ASSERT_EQ(part->threads[0].events.size(), 2U);
  EXPECT_EQ(part->threads[0].events[1].begin, 3U);
}

TEST(trace_part, reads_names_of_functions) {
  written_part file;
  trace_chunk& chunk = file.add_chunk(trace_chunk::names);
  chunk.first = 1;
  chunk.count = 3;
  const char content[] = "\3\0f()\0\0\377\377torn";
  std::memcpy(&chunk + 1, content, sizeof content);
  const auto part = parse_trace_part(file.bytes());
  ASSERT_GE(part->functions.size(), 3U);
  EXPECT_EQ(part->functions[0], "");
  EXPECT_EQ(part->functions[1], "f()");
  EXPECT_EQ(part->functions[2], "");
}

TEST(trace_part, reads_texts_and_bounds_them) {
  written_part file;
  trace_chunk& chunk = file.add_chunk(trace_chunk::events);
  const std::string_view text = "a text of more than one event's bytes\n";
  file.add_event(chunk, 0, trace_event::make(trace_kind::name, 0, text.size(), 0, 4711));
  std::memcpy(reinterpret_cast<std::byte*>(&chunk + 1) + sizeof(trace_event), text.data(), text.size());
  file.add_event(chunk, 3, slept(1));
  file.add_event(chunk, 4, trace_event::make(trace_kind::name, 0, 1 << 30, 0, 1));
  file.add_event(chunk, 5, slept(2));
  const auto part = parse_trace_part(file.bytes());
  EXPECT_EQ(part->texts.at(4711), "a text of more than one event's bytes ") << "printable";
  EXPECT_EQ(part->texts.size(), 1U);
  EXPECT_EQ(part->threads[0].events.size(), 1U) << "nothing behind a text that cannot be";
}

TEST(trace_part, of_a_clock_that_is_the_system_s_has_ticks_of_a_nanosecond) {
  trace_part part;
  part.source = tick_source::clock;
  EXPECT_DOUBLE_EQ(part.tick_ns(), 1);
  part.source = tick_source::x86_counter;
  EXPECT_DOUBLE_EQ(part.tick_ns(), 1) << "nothing is known";
}

}  // namespace
