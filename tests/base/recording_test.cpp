// Reading memory of a flight recorder that anybody may have written to.
#include "base/recording.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string_view>

#include "base/memory_file.hpp"
#include "base/recorder_area.hpp"

namespace ham::inline v1::base {
namespace {

class recorder_bytes : public testing::Test {
 protected:
  recorder_bytes() {
    area_->head.magic = recorder_head::magic_value;
    area_->head.pid = 42;
    area_->head.node = 7;
    area_->head.source = own_tick_source;
    area_->head.start_ticks = 1'000;
    area_->head.start_ns = 5'000;
  }
  /// A tick is 2 ns.
  static constexpr tick_reading now{.ticks = 1'001'000, .ns = 2'005'000};

  [[nodiscard]] std::vector<std::byte> bytes() const {
    const auto* const begin = reinterpret_cast<const std::byte*>(area_.get());
    return {begin, begin + sizeof *area_};
  }
  [[nodiscard]] std::optional<recording> parsed() const { return parse_recording(bytes(), now); }
  static recorded_event sent(std::uint64_t ticks, std::uint32_t call = 1) {
    return recorded_event::make(recorded_kind::sent, ticks, 0, 0, call);
  }
  /// Appends a name as the recorder does.
  void name(std::string_view text) {
    const auto size = static_cast<std::uint16_t>(text.size());
    std::memcpy(area_->names + used_, &size, sizeof size);
    std::memcpy(area_->names + used_ + sizeof size, text.data(), text.size());
    used_ += sizeof size + text.size();
    ++area_->head.names;
  }

  std::unique_ptr<recorder_area> area_ = std::make_unique<recorder_area>();
  std::size_t used_ = 0;
};

TEST_F(recorder_bytes, without_events_have_no_threads) {
  const auto all = parsed();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->node, 7);
  EXPECT_EQ(all->pid, 42);
  EXPECT_TRUE(all->threads.empty());
  EXPECT_TRUE(all->names.empty());
}

TEST_F(recorder_bytes, say_how_long_ago_something_was) {
  recorder_ring& ring = area_->rings[3];
  ring.thread = 99;
  ring.past[5] = sent(1'001'000 - 500, 1);
  ring.past[6] = sent(1'001'000 - 100, 2);
  ring.past[0] = sent(1'001'000 + 700, 3);  // on another core, whose counter is ahead
  const auto all = parsed();
  ASSERT_TRUE(all);
  ASSERT_EQ(all->threads.size(), 1U);
  EXPECT_EQ(all->threads[0].id, 99U);
  const auto& past = all->threads[0].past;
  ASSERT_EQ(past.size(), 3U);
  EXPECT_EQ(past[0].call, 3U);
  EXPECT_EQ(past[0].age_ns, 0);
  EXPECT_EQ(past[1].call, 2U);
  EXPECT_EQ(past[1].age_ns, 200);
  EXPECT_EQ(past[2].call, 1U);
  EXPECT_EQ(past[2].age_ns, 1'000);
}

TEST_F(recorder_bytes, do_not_say_it_if_they_cannot_know) {
  area_->rings[0].past[0] = sent(900'000);
  const auto age = [&] { return parsed()->threads.at(0).past.at(0).age_ns; };
  EXPECT_GE(age(), 0);
  area_->head.source = tick_source::none;
  EXPECT_LT(age(), 0) << "of another counter";
  area_->head.source = own_tick_source;
  for (const std::uint64_t start : {std::uint64_t{1'001'000}, std::uint64_t{2'000'000}, UINT64_MAX}) {
    area_->head.start_ticks = start;
    EXPECT_LT(age(), 0) << "it began in the future: " << start;
  }
  area_->head.start_ticks = 1'000'999;
  EXPECT_LT(age(), 0) << "a tick would be 2 ms long";
  area_->head.start_ticks = 1'000;
  for (const std::int64_t start : {std::int64_t{2'005'001}, INT64_MAX, std::int64_t{-1}, INT64_MIN}) {
    area_->head.start_ns = start;
    EXPECT_LT(age(), 0) << start;
  }
}

TEST_F(recorder_bytes, torn_events_are_left_out) {
  recorder_ring& ring = area_->rings[0];
  ring.past[0] = sent(2'000, 1);
  ring.past[1] = sent(3'000, 2);
  ring.past[1].what ^= 1;
  ring.open[0] = sent(4'000, 3);
  ring.open[0].check = 0;
  ring.past[2] = sent(5'000, 4);
  const auto all = parsed();
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->threads.at(0).open.empty());
  const auto& past = all->threads.at(0).past;
  ASSERT_EQ(past.size(), 2U);
  EXPECT_EQ(past[0].call, 4U);
  EXPECT_EQ(past[1].call, 1U);
}

TEST_F(recorder_bytes, hold_names_in_the_order_of_keys) {
  name("first");
  name("");
  name("third");
  EXPECT_EQ(parsed()->names, (std::vector<std::string>{"first", "", "third"}));
  area_->head.names = 2;
  EXPECT_EQ(parsed()->names.size(), 2U);
}

TEST_F(recorder_bytes, claim_no_more_names_than_there_can_be) {
  area_->head.names = UINT32_MAX;
  EXPECT_LE(parsed()->names.size(), sizeof area_->names / 2);
  std::fill(std::begin(area_->names), std::end(area_->names), std::byte{0xff});
  EXPECT_EQ(parsed()->names.size(), 1U) << "what is longer than the rest of the memory is none";
}

TEST_F(recorder_bytes, of_something_else_are_refused) {
  EXPECT_FALSE(parse_recording({}, now));
  std::vector<std::byte> some = bytes();
  some.pop_back();
  EXPECT_FALSE(parse_recording(some, now));
  area_->head.magic ^= 1;
  EXPECT_FALSE(parsed());
}

TEST_F(recorder_bytes, that_are_random_do_no_harm) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::byte> some(recorder_area::bytes);
    for (std::size_t i = 0; i < some.size(); i += 8) {
      const std::uint64_t word = random();
      std::memcpy(some.data() + i, &word, sizeof word);
    }
    std::memcpy(some.data(), &recorder_head::magic_value, sizeof recorder_head::magic_value);
    const auto all = parse_recording(some);
    ASSERT_TRUE(all);
    EXPECT_TRUE(all->threads.empty()) << "none of 2^64 is sound by chance";
  }
}

TEST_F(recorder_bytes, are_read_from_a_file_that_holds_them_whole) {
  const unique_fd file = make_memory_file("ham-test", 2 * recorder_area::bytes);
  EXPECT_TRUE(read_recorder_area(file.get(), 0).empty()) << "nobody has written there";
  EXPECT_TRUE(read_recorder_area(-1, 0).empty());
  const std::vector<std::byte> some = bytes();
  ASSERT_EQ(::pwrite(file.get(), some.data(), some.size(), recorder_area::bytes), static_cast<ssize_t>(some.size()));
  EXPECT_EQ(read_recorder_area(file.get(), recorder_area::bytes), some);
  ASSERT_EQ(::pwrite(file.get(), some.data(), 64, recorder_area::bytes + 4096), 64);
  EXPECT_TRUE(read_recorder_area(file.get(), recorder_area::bytes + 4096).empty()) << "the file ends before it does";
}

}  // namespace
}  // namespace ham::base
