// The colours of frames.
#include "shallow_water/frame.hpp"

#include <algorithm>

namespace shallow_water {

std::vector<std::uint8_t> pixels_of(const domain& of, std::span<const double> state) {
  constexpr double lowest = 0.8;
  constexpr double highest = 1.5;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(3 * of.rows * of.columns);
  const auto byte = [](double share) { return static_cast<std::uint8_t>(255.0 * std::clamp(share, 0.0, 1.0)); };
  for (std::size_t j = of.rows; j-- > 0;) {
    for (std::size_t i = 1; i <= of.columns; ++i) {
      const double share = (state[j * of.row() + i] - lowest) / (highest - lowest);
      pixels.insert(pixels.end(), {byte(2.0 * share - 1.0), byte(1.5 * share - 0.25), byte(0.25 + share)});
    }
  }
  return pixels;
}

}  // namespace shallow_water
