// Frames as PNG, by libpng's simple interface.
#include <png.h>

#include "shallow_water/checkpoint.hpp"
#include "shallow_water/frame.hpp"

namespace shallow_water {

const char* frame_format() { return "png"; }

void write_frame(const std::string& file, const domain& of, std::span<const double> state) {
  const std::vector<std::uint8_t> pixels = pixels_of(of, state);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(of.columns);
  image.height = static_cast<png_uint_32>(of.rows);
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, file.c_str(), 0, pixels.data(), 0, nullptr) == 0) {
    throw file_error(file + ": cannot be written: " + image.message);
  }
}

}  // namespace shallow_water
