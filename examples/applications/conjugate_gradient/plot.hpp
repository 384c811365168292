// Draws the residual of an iteration as an SVG picture.
#pragma once

#include <span>
#include <string>

namespace cg {

/// A complete SVG document: relative residuals of iterations 1, 2, ... on a logarithmic axis, and the goal as a line.
/// At most some 1000 points are drawn, whatever the number of iterations; what is no positive number is left out.
std::string residual_plot(const std::string& title, std::span<const double> residuals, double goal);

/// Writes a text file. Throws std::runtime_error with the reason.
void write_file(const std::string& path, const std::string& text);

}  // namespace cg
