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
