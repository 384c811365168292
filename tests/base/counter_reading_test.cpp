// Counters are read from memory of which nothing is believed.
#include "base/counter_reading.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <random>

#include "base/memory_file.hpp"

namespace ham::inline v1::base {
namespace {

/// An area as a node would write it, with its bytes.
struct made_area {
  std::unique_ptr<counter_area> area = std::make_unique<counter_area>();
  made_area() {
    area->head.magic.store(counter_head::magic_value);
    area->head.pid = 4711;
    area->head.node = 3;
    area->head.source = own_tick_source;
    area->head.start_ticks = 1'000'000;
    area->head.start_ns = 5'000'000;
    std::strcpy(area->head.program.data(), "app\x1b[2J");
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    const auto* const first = reinterpret_cast<const std::byte*>(area.get());
    return {first, first + sizeof(counter_area)};
  }
  [[nodiscard]] std::optional<counter_reading> read(const tick_reading& now = {21'000'000, 15'000'000}) const {
    return parse_counters(bytes(), now);
  }
};

TEST(counter_reading, has_what_was_counted) {
  made_area made;
  counter_head& head = made.area->head;
  head.rows.store(2);
  head.polled_ns.store(14'000'000);
  head.gone.calls_sent.store(10);
  made.area->threads[0].begun.store(12);
  made.area->threads[0].ended.store(10);
  made.area->threads[31].begun.store(5);
  made.area->threads[31].ended.store(5);
  made.area->threads[0].ticks.store(1000);
  made.area->threads[0].took[5].store(3);
  made.area->threads[31].took[5].store(4);
  counter_row& row = made.area->rows[1];
  row.now.store(static_cast<std::uint32_t>(counter_row::state::met));
  row.node.store(9);
  row.number.store(1);
  row.restarts.store(2);
  row.pid.store(815);
  std::strcpy(row.transport.data(), "shm");
  std::strcpy(row.machine.data(), "n\xc3\xb6 de");
  row.traffic.calls_sent.store(5);
  row.traffic.waiting.store(6);
  const auto read = made.read();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->node, 3);
  EXPECT_EQ(read->pid, 4711);
  EXPECT_EQ(read->program, "app?[2J");
  EXPECT_DOUBLE_EQ(read->tick_ns, 0.5);
  EXPECT_EQ(read->age_ns, 10'000'000);
  EXPECT_EQ(read->polled_ago_ns, 1'000'000);
  EXPECT_EQ(read->executing, 1U);
  EXPECT_EQ(read->executed, 15U);
  EXPECT_EQ(read->ticks, 1000U);
  EXPECT_EQ(read->took[5], 7U);
  EXPECT_EQ(read->all.calls_sent, 15U);
  ASSERT_EQ(read->peers.size(), 1U) << "the other row is nobody's";
  EXPECT_EQ(read->peers[0].node, 9);
  EXPECT_EQ(read->peers[0].number, 1);
  EXPECT_EQ(read->peers[0].restarts, 2U);
  EXPECT_EQ(read->peers[0].pid, 815);
  EXPECT_EQ(read->peers[0].transport, "shm");
  EXPECT_EQ(read->peers[0].machine, "n?? de");
  EXPECT_EQ(read->peers[0].with.waiting, 6U);
}

TEST(counter_reading, knows_no_ticks_of_clocks_that_cannot_be) {
  made_area made;
  EXPECT_EQ(made.read({900'000, 15'000'000})->tick_ns, 0) << "the count goes back";
  EXPECT_EQ(made.read({21'000'000, 4'000'000})->tick_ns, 0) << "time does";
  EXPECT_EQ(made.read({1'000'001, 15'000'000})->tick_ns, 0) << "such long ticks are none";
  made.area->head.source = tick_source::none;
  EXPECT_EQ(made.read()->tick_ns, 0);
}

TEST(counter_reading, refuses_what_are_no_counters) {
  made_area made;
  std::vector<std::byte> bytes = made.bytes();
  EXPECT_FALSE(parse_counters({}).has_value());
  EXPECT_FALSE(parse_counters({bytes.data(), 4000}).has_value());
  bytes.resize(bytes.size() + 1);
  EXPECT_FALSE(parse_counters(bytes).has_value());
  made.area->head.magic.store(1);
  EXPECT_FALSE(made.read().has_value());
}

TEST(counter_reading, believes_no_number) {
  made_area made;
  std::mt19937_64 random(7);
  for (int round = 0; round < 4; ++round) {
    std::vector<std::byte> bytes = made.bytes();
    for (std::size_t at = 8; at < bytes.size(); at += 8) {
      const std::uint64_t word = random();
      std::memcpy(bytes.data() + at, &word, sizeof word);
    }
    const auto read = parse_counters(bytes);
    ASSERT_TRUE(read.has_value());
    EXPECT_LE(read->peers.size(), counter_area::max_rows);
    EXPECT_LE(read->executing, counter_area::max_threads);
    EXPECT_LE(read->program.size(), made.area->head.program.size());
  }
  made.area->head.rows.store(UINT32_MAX);
  const std::vector<std::byte> all = made.bytes();
  EXPECT_TRUE(parse_counters({all.data(), offsetof(counter_area, rows) + 10}).has_value()) << "a part of a row";
}

TEST(counter_reading, reads_files_as_far_as_they_are_used) {
  made_area made;
  made.area->head.rows.store(3);
  const std::vector<std::byte> bytes = made.bytes();
  const unique_fd file = make_memory_file("ham-test", bytes.size());
  ASSERT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(read_counter_area(file.get()).size(), offsetof(counter_area, rows) + 3 * sizeof(counter_row));
  const std::uint32_t odd = 1;  // rows change hands, for ever
  ASSERT_EQ(::pwrite(file.get(), &odd, sizeof odd, offsetof(counter_head, changes)), 4);
  EXPECT_FALSE(read_counter_area(file.get()).empty());
  EXPECT_TRUE(read_counter_area(make_memory_file("ham-test", bytes.size()).get()).empty()) << "zeros";
  EXPECT_TRUE(read_counter_area(make_memory_file("ham-test", 100).get()).empty());
  EXPECT_TRUE(read_counter_area(-1).empty());
}

}  // namespace
}  // namespace ham::base
