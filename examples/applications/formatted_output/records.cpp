// Many operations per number, little code.
#include "formatted_output/records.hpp"

#include <cstdio>

namespace formatted_output {

void compute(std::uint64_t step, std::span<double> numbers) {
  const std::size_t lines = numbers.size() / numbers_per_line;
  const double shift = 0.001 * static_cast<double>(step);
  const double scale = lines > 0 ? 1.0 / static_cast<double>(lines) : 1.0;
  double* const first = numbers.data();
  double* const second = first + lines;
  double* const third = second + lines;
  for (std::size_t i = 0; i < lines; ++i) first[i] = shift + scale * static_cast<double>(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < lines; ++i) {
    const double x = first[i];
    double sum = 1.0;
    for (int term = 16; term > 0; --term) sum = 1.0 + sum * x / term;  // exp(x)
    second[i] = sum;
  }
  for (std::size_t i = 0; i < lines; ++i) third[i] = second[i] * first[i] - 1.0;
}

void append_lines(std::span<const double> numbers, std::size_t first, std::size_t last, std::string& text) {
  const std::size_t lines = numbers.size() / numbers_per_line;
  char line[128];
  for (std::size_t i = first; i < last; ++i) {
    const int length = std::snprintf(line, sizeof line, "%8zu %14.6e %14.6e %14.6e\n", i, numbers[i],
                                     numbers[lines + i], numbers[2 * lines + i]);
    text.append(line, static_cast<std::size_t>(length));
  }
}

}  // namespace formatted_output
