// Ends of runs: whatever is wrong in one of them counts.
#include "shallow_water/end_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace {

namespace sw = shallow_water;

constexpr sw::domain small_basin{7, 5};
constexpr std::uint64_t end_step = 10;

/// A check of two repetitions that ends after the right one.
sw::end_check of_wrong_then_right(const std::vector<double>& wrong) {
  const std::vector<double> right = sw::initial_state(small_basin);
  sw::end_check ends(small_basin, end_step, right);
  ends.add(wrong);
  ends.add(right);
  return ends;
}

TEST(shallow_water_end_check, right_ends_are_right) {
  const sw::end_check ends = of_wrong_then_right(sw::initial_state(small_basin));
  EXPECT_TRUE(ends.all_right());
  EXPECT_EQ(ends.differences(), 0U);
  EXPECT_EQ(ends.volume_share(), 0.0);
}

TEST(shallow_water_end_check, a_bit_that_differs_in_the_first_repetition_counts) {
  std::vector<double> state = sw::initial_state(small_basin);
  state[1] = std::nextafter(state[1], 10.0);
  const sw::end_check ends = of_wrong_then_right(state);
  EXPECT_EQ(ends.differences(), 1U);
  EXPECT_FALSE(ends.all_right());
}

TEST(shallow_water_end_check, a_state_of_another_size_differs) {
  std::vector<double> state = sw::initial_state(small_basin);
  state.resize(state.size() + 1);
  EXPECT_EQ(of_wrong_then_right(state).differences(), 1U);
}

TEST(shallow_water_end_check, volume_and_depths_count_without_a_serial_run) {
  std::vector<double> state = sw::initial_state(small_basin);
  state[1] += 1e-3;
  sw::end_check more(small_basin, end_step, std::nullopt);
  more.add(state);
  more.add(sw::initial_state(small_basin));
  EXPECT_EQ(more.differences(), 0U);
  EXPECT_GT(more.volume_share(), 1.0);
  EXPECT_FALSE(more.all_right());

  state[1] = std::nan("");
  sw::end_check unsound(small_basin, end_step, std::nullopt);
  unsound.add(state);
  unsound.add(sw::initial_state(small_basin));
  EXPECT_EQ(unsound.unsound(), 1U);
  EXPECT_TRUE(std::isnan(unsound.volume_share()));
  EXPECT_FALSE(unsound.all_right());
}

}  // namespace
