// Events that a reader can check by themselves.
#include "base/recorded_event.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ham::inline v1::base {
namespace {

constexpr recorded_event some_event =
    recorded_event::make(recorded_kind::sent, 0x123456789abcdef0, -7, 0xfffffffe, 0x80000001);

TEST(recorded_event, keeps_what_it_was_made_of) {
  EXPECT_TRUE(some_event.sound());
  EXPECT_EQ(some_event.kind(), recorded_kind::sent);
  EXPECT_EQ(some_event.ticks, 0x123456789abcdef0U);
  EXPECT_EQ(some_event.peer(), -7);
  EXPECT_EQ(some_event.function(), 0xfffffffeU);
  EXPECT_EQ(some_event.call(), 0x80000001U);
}

TEST(recorded_event, becomes_another_kind_and_nothing_else) {
  const recorded_event over = some_event.as(recorded_kind::executed);
  EXPECT_EQ(over.kind(), recorded_kind::executed);
  EXPECT_EQ(over.ticks, some_event.ticks);
  EXPECT_EQ(over.peer(), some_event.peer());
  EXPECT_EQ(over.function(), some_event.function());
  EXPECT_EQ(over.call(), some_event.call());
}

TEST(recorded_event, zeros_are_none) {
  EXPECT_FALSE(recorded_event{}.sound());
  EXPECT_EQ(recorded_event{}.kind(), recorded_kind::none);
}

TEST(recorded_event, with_any_bit_changed_is_not_sound) {
  for (unsigned bit = 0; bit < 8 * sizeof some_event; ++bit) {
    recorded_event torn = some_event;
    auto* const bytes = reinterpret_cast<unsigned char*>(&torn);
    bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ 1U << bit % 8);
    EXPECT_FALSE(torn.sound()) << bit;
  }
}

TEST(recorded_event, of_a_kind_that_does_not_exist_is_not_sound) {
  EXPECT_TRUE(some_event.as(last_recorded_kind).sound());
  const auto beyond = static_cast<std::uint8_t>(last_recorded_kind) + 1;
  EXPECT_FALSE(some_event.as(static_cast<recorded_kind>(beyond)).sound());
  EXPECT_FALSE(some_event.as(recorded_kind::none).sound());
}

TEST(recorded_event, put_together_of_two_is_not_sound) {
  const recorded_event other = recorded_event::make(recorded_kind::executing, 0x123456789abcdfff, 2, 3, 4);
  for (const std::size_t bytes : {8U, 16U, 24U}) {
    recorded_event torn = some_event;
    std::memcpy(static_cast<void*>(&torn), &other, bytes);
    EXPECT_FALSE(torn.sound()) << bytes;
  }
}

}  // namespace
}  // namespace ham::base
