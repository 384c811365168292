// The plate of the coupled example.
#include "coupled/field.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace {

TEST(coupled_field, equal_temperatures_stay) {
  coupled::field plate(9, 7, 3.0, 3.0);
  EXPECT_EQ(plate.step(std::vector<double>(9, 3.0), 50), std::vector<double>(9, 3.0));
  EXPECT_EQ(plate.points(), std::vector<double>(63, 3.0));
}

TEST(coupled_field, heat_comes_from_the_edge) {
  coupled::field plate(9, 7, 0.0, 0.0);
  const std::vector<double> near = plate.step(std::vector<double>(9, 1.0), 1);
  EXPECT_EQ(near, (std::vector<double>{0.0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.0}));
  const std::vector<double> later = plate.step(std::vector<double>(9, 1.0), 30);
  for (std::size_t i = 1; i < 8; ++i) {
    EXPECT_GT(later[i], near[i]);
    EXPECT_LT(later[i], 1.0);
    EXPECT_NEAR(later[i], later[8 - i], 1e-15);
  }
  EXPECT_GT(plate.points()[5 * 9 + 4], 0.0);
}

TEST(coupled_field, steps_add_up) {
  coupled::field twice(8, 6, 5.0, 1.0);
  coupled::field once(8, 6, 5.0, 1.0);
  const std::vector<double> edge(8, 2.0);
  (void)twice.step(edge, 4);
  EXPECT_EQ(twice.step(edge, 3), once.step(edge, 7));
}

TEST(coupled_field, an_edge_of_another_length_is_refused) {
  coupled::field plate(8, 6, 5.0, 1.0);
  EXPECT_THROW((void)plate.step(std::vector<double>(7, 2.0), 1), std::invalid_argument);
}

}  // namespace
