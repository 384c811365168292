// Frames as PPM, which needs no library.
#include <fstream>

#include "shallow_water/checkpoint.hpp"
#include "shallow_water/frame.hpp"

namespace shallow_water {

const char* frame_format() { return "ppm"; }

void write_frame(const std::string& file, const domain& of, std::span<const double> state) {
  const std::vector<std::uint8_t> pixels = pixels_of(of, state);
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << "P6\n" << of.columns << ' ' << of.rows << "\n255\n";
  out.write(reinterpret_cast<const char*>(pixels.data()), static_cast<std::streamsize>(pixels.size()));
  out.close();
  if (!out) throw file_error(file + ": cannot be written");
}

}  // namespace shallow_water
