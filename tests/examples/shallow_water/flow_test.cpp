// The shallow water solver: blocks against the domain, and what physics says.
#include "shallow_water/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace {

namespace sw = shallow_water;

constexpr sw::domain basin{31, 23};

std::vector<double> serial(std::vector<double> state, int steps) {
  sw::block all(basin, 0, basin.rows);
  all.load(state);
  for (int step = 0; step < steps; ++step) {
    all.reflect();
    all.advance(0, basin.rows);
    all.swap();
  }
  return {all.own_rows().begin(), all.own_rows().end()};
}

TEST(shallow_water_flow, parts_give_the_same_bits_as_all_rows) {
  const std::vector<double> start = sw::initial_state(basin);
  const std::vector<double> right = serial(start, 25);
  for (const std::size_t parts : {1u, 2u, 5u, 23u}) {
    std::vector<std::unique_ptr<sw::block>> blocks;
    for (std::size_t i = 0; i < parts; ++i) {
      const auto [first, last] = sw::part_of(basin, i, parts);
      blocks.push_back(std::make_unique<sw::block>(basin, first, last));
      blocks.back()->load(start);
    }
    for (int step = 0; step < 25; ++step) {
      for (auto& one : blocks) {
        one->reflect();
        one->advance(one->first(), one->first() + 1);
        one->advance(one->first() + 1, one->last());
      }
      for (std::size_t i = 1; i < parts; ++i) {
        sw::block& below = *blocks[i - 1];
        sw::block& above = *blocks[i];
        std::ranges::copy(below.next_row(below.last() - 1), above.next_row(above.first() - 1).begin());
        std::ranges::copy(above.next_row(above.first()), below.next_row(below.last()).begin());
      }
      for (auto& one : blocks) one->swap();
    }
    std::vector<double> found;
    for (const auto& one : blocks) found.insert(found.end(), one->own_rows().begin(), one->own_rows().end());
    EXPECT_EQ(found, right) << parts;
  }
}

TEST(shallow_water_flow, volume_is_kept_and_depths_stay_positive) {
  const std::vector<double> start = sw::initial_state(basin);
  const std::vector<double> end = serial(start, 500);
  const auto change =
      static_cast<double>(std::abs((sw::volume(basin, end) - sw::volume(basin, start)) / sw::volume(basin, start)));
  EXPECT_LE(change, sw::volume_tolerance(500));
  EXPECT_TRUE(sw::is_sound(basin, end));
  EXPECT_NE(start, end);
}

TEST(shallow_water_flow, water_at_rest_stays_at_rest) {
  std::vector<double> still(basin.size(), 0.0);
  for (std::size_t j = 0; j < basin.rows; ++j) {
    for (std::size_t i = 0; i < basin.field(); ++i) still[j * basin.row() + i] = 1.25;
  }
  EXPECT_EQ(serial(still, 50), still);
}

TEST(shallow_water_flow, a_mirrored_beginning_has_a_mirrored_end) {
  const auto mirrored = [](const std::vector<double>& state) {
    std::vector<double> mirror(state.size());
    for (std::size_t j = 0; j < basin.rows; ++j) {
      for (std::size_t i = 0; i < basin.row(); ++i) {
        const double value = state[j * basin.row() + i];
        mirror[(basin.rows - 1 - j) * basin.row() + i] = i < 2 * basin.field() ? value : -value;
      }
    }
    return mirror;
  };
  const std::vector<double> start = sw::initial_state(basin);
  const std::vector<double> straight = mirrored(serial(start, 40));
  const std::vector<double> mirror = serial(mirrored(start), 40);
  for (std::size_t i = 0; i < straight.size(); ++i) EXPECT_NEAR(straight[i], mirror[i], 1e-12);
}

TEST(shallow_water_flow, a_wave_has_the_speed_of_shallow_water) {
  // A low, broad hill in a channel: after a time t the crest of the wave to the right is at sqrt(g h) t.
  constexpr sw::domain channel{400, 1};
  std::vector<double> state(channel.size(), 0.0);
  for (std::size_t i = 0; i < channel.field(); ++i) {
    const double x = (static_cast<double>(i) - 0.5) * channel.cell() - 0.3;
    state[i] = 1.0 + 0.001 * std::exp(-x * x / 0.0025);
  }
  sw::block all(channel, 0, 1);
  all.load(state);
  const int steps = static_cast<int>(0.1 / channel.time_step());
  for (int step = 0; step < steps; ++step) {
    all.reflect();
    all.advance(0, 1);
    all.swap();
  }
  const auto row = all.own_rows();
  const auto crest = std::max_element(row.begin() + 180, row.begin() + 400) - row.begin();
  const double expected = 0.3 + std::sqrt(sw::gravity) * steps * channel.time_step();
  EXPECT_NEAR((static_cast<double>(crest) - 0.5) * channel.cell(), expected, 0.02);
}

}  // namespace
