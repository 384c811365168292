// A picture of the depths: PNG, or PPM where libpng was not found at build time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shallow_water/flow.hpp"

namespace shallow_water {

/// "png" or "ppm".
[[nodiscard]] const char* frame_format();
/// One pixel per cell, the first row at the bottom. Throws file_error.
void write_frame(const std::string& file, const domain& of, std::span<const double> state);

/// Red, green and blue of each pixel, the top row first: dark blue for low water, white for high.
[[nodiscard]] std::vector<std::uint8_t> pixels_of(const domain& of, std::span<const double> state);

}  // namespace shallow_water
