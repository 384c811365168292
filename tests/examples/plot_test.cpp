// The residual as a picture, and the bar on a terminal.
#include "plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "progress.hpp"

namespace {

std::vector<std::string> points_of(const std::string& svg) {
  const auto at = svg.find("points=\"") + 8;
  std::istringstream text(svg.substr(at, svg.find('"', at) - at));
  std::vector<std::string> points;
  for (std::string point; text >> point;) points.push_back(point);
  return points;
}

TEST(plot, has_a_point_for_each_iteration_from_left_top_to_right_bottom) {
  const std::string svg = cg::residual_plot("a & b", std::vector<double>{1.0, 0.1, 0.01, 0.001}, 1e-3);
  EXPECT_EQ(svg.find("<svg "), 0U);
  EXPECT_NE(svg.find("a &amp; b"), std::string::npos);
  EXPECT_NE(svg.find(">1e-3<"), std::string::npos);
  EXPECT_EQ(points_of(svg), (std::vector<std::string>{"70.0,40.0", "280.0,156.7", "490.0,273.3", "700.0,390.0"}));
}

TEST(plot, leaves_out_what_has_no_logarithm) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = cg::residual_plot("", std::vector<double>{1.0, nan, 0.1, HUGE_VAL, 0.0}, 0.0);
  EXPECT_EQ(points_of(svg).size(), 2U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_TRUE(points_of(cg::residual_plot("", {}, 1e-8)).empty());
}

TEST(plot, many_iterations_take_few_points_and_the_last_one) {
  const std::vector<double> residuals(123'456, 0.5);
  const auto points = points_of(cg::residual_plot("", residuals, 1e-8));
  EXPECT_LE(points.size(), 1001U);
  EXPECT_EQ(points.back().substr(0, 6), "700.0,");
}

TEST(progress, the_bar_is_as_long_as_the_way_that_is_done) {
  EXPECT_EQ(cg::progress_line(12, 1e-4, 1e-8, 100),
            "  [####################....................]  50 %  iteration 12  residual 1.0e-04");
  EXPECT_NE(cg::progress_line(1, 1.0, 1e-8, 100).find("[....."), std::string::npos);
  EXPECT_NE(cg::progress_line(1, 0.0, 1e-8, 100).find("####] 100 %"), std::string::npos);
  EXPECT_NE(cg::progress_line(1, 50.0, 1e-8, 100).find("[....."), std::string::npos);
}

TEST(progress, fits_into_a_narrow_terminal) {
  for (const int columns : {1, 20, 40, 50, 60, 80}) {
    EXPECT_LT(cg::progress_line(123'456, 1e-4, 1e-8, columns).size(), static_cast<std::size_t>(columns)) << columns;
  }
}

}  // namespace
