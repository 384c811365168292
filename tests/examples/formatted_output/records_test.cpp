// Numbers and lines of the example of formatted output.
#include "formatted_output/records.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

TEST(formatted_output_records, numbers_are_a_line_its_exponential_and_their_combination) {
  std::vector<double> numbers(3 * 50);
  formatted_output::compute(7, numbers);
  for (std::size_t i = 0; i < 50; ++i) {
    const double x = 0.007 + static_cast<double>(i) / 50.0;
    EXPECT_NEAR(numbers[i], x, 1e-15);
    EXPECT_NEAR(numbers[50 + i], std::exp(x), 1e-13);
    EXPECT_NEAR(numbers[100 + i], x * std::exp(x) - 1.0, 1e-13);
  }
}

TEST(formatted_output_records, lines_hold_a_number_and_three_columns) {
  const std::vector<double> numbers{1.0, 2.0, -3.5, 4.0, 0.0, 1e-30};
  std::string text = "before\n";
  formatted_output::append_lines(numbers, 1, 2, text);
  EXPECT_EQ(text, "before\n       1   2.000000e+00   4.000000e+00   1.000000e-30\n");
  std::string parts;
  formatted_output::append_lines(numbers, 0, 1, parts);
  formatted_output::append_lines(numbers, 1, 2, parts);
  std::string at_once;
  formatted_output::append_lines(numbers, 0, 2, at_once);
  EXPECT_EQ(parts, at_once);
}

}  // namespace
