// SVG by hand: two axes, grid lines at powers of ten, a polyline.
#include "plot.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace cg {
namespace {

constexpr double width = 720, height = 440;
constexpr double left = 70, right = 20, top = 40, bottom = 50;
constexpr std::size_t max_points = 1000;

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.1f", value);
  return buffer;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      default: result += c;
    }
  }
  return result;
}

bool drawable(double residual) { return residual > 0.0 && std::isfinite(residual); }

/// From data to places in the picture.
struct axes {
  double iterations = 1.0;
  int lowest = -1, highest = 0;  ///< powers of ten

  axes(std::span<const double> residuals, double goal) : iterations(std::max<double>(2.0, double(residuals.size()))) {
    double least = drawable(goal) ? std::log10(goal) : 0.0;
    double most = 0.0;
    for (const double residual : residuals) {
      if (!drawable(residual)) continue;
      least = std::min(least, std::log10(residual));
      most = std::max(most, std::log10(residual));
    }
    lowest = std::min(-1, static_cast<int>(std::floor(least)));
    highest = static_cast<int>(std::ceil(most));
  }
  [[nodiscard]] double x(double iteration) const {
    return left + (iteration - 1.0) / (iterations - 1.0) * (width - left - right);
  }
  [[nodiscard]] double y(double decades) const {
    return top + (highest - decades) / (highest - lowest) * (height - top - bottom);
  }
};

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
         "\" " + style + "/>\n";
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" + escaped(text) +
         "</text>\n";
}

std::string grid(const axes& at) {
  std::string svg;
  const int step = std::max(1, (at.highest - at.lowest + 9) / 10);
  for (int decade = at.lowest; decade <= at.highest; decade += step) {
    svg += line(left, at.y(decade), width - right, at.y(decade), "stroke=\"#ddd\"");
    svg += label(left - 8, at.y(decade) + 4, "end", "1e" + std::to_string(decade));
  }
  for (int part = 0; part <= 4; ++part) {
    const double iteration = std::round(1.0 + (at.iterations - 1.0) * part / 4.0);
    svg += label(at.x(iteration), height - bottom + 18, "middle", std::to_string(static_cast<long long>(iteration)));
  }
  svg += line(left, top, left, height - bottom, "stroke=\"#000\"");
  svg += line(left, height - bottom, width - right, height - bottom, "stroke=\"#000\"");
  return svg;
}

std::string curve(const axes& at, std::span<const double> residuals) {
  std::string points;
  const std::size_t step = std::max<std::size_t>(1, (residuals.size() + max_points - 1) / max_points);
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const bool chosen = i % step == 0 || i + 1 == residuals.size();
    if (!chosen || !drawable(residuals[i])) continue;
    points += number(at.x(static_cast<double>(i + 1))) + "," + number(at.y(std::log10(residuals[i]))) + " ";
  }
  return "<polyline fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"1.5\" points=\"" + points + "\"/>\n";
}

}  // namespace

std::string residual_plot(const std::string& title, std::span<const double> residuals, double goal) {
  const axes at(residuals, goal);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " " + number(height) +
                    "\" font-family=\"sans-serif\" font-size=\"12\">\n" +
                    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  svg += label(width / 2, 24, "middle", title);
  svg += grid(at);
  if (drawable(goal)) {
    const double y = at.y(std::log10(goal));
    svg += line(left, y, width - right, y, "stroke=\"#c0392b\" stroke-dasharray=\"5 4\"");
    svg += label(width - right, y - 5, "end", "goal");
  }
  svg += curve(at, residuals);
  svg += label(width / 2, height - 12, "middle", "iteration");
  svg += label(left, top - 8, "middle", "|r| / |b|");
  return svg + "</svg>\n";
}

void write_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw std::runtime_error(path + ": cannot be written (" + std::strerror(errno) +
                             "); name a file in a folder that exists and is yours");
  }
}

}  // namespace cg
