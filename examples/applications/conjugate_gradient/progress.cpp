// Progress of an iteration on standard output.
#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace cg {
namespace {

constexpr double decades_per_line = 2.0;
constexpr std::chrono::milliseconds redraw_interval{50};
constexpr int bar_width = 40;

}  // namespace

progress::progress(double goal)
    : goal_(goal), on_terminal_(isatty(STDOUT_FILENO) == 1), next_report_(std::pow(10.0, -decades_per_line)) {}

progress::~progress() { finish(); }

void progress::update(std::int64_t iteration, double residual) {
  if (on_terminal_) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_drawn_ >= redraw_interval) {
      last_drawn_ = now;
      draw(iteration, residual);
    }
  } else if (residual <= next_report_) {
    std::printf("  iteration %6lld  residual %.1e\n", static_cast<long long>(iteration), residual);
    while (residual <= next_report_ && next_report_ > 0.0) next_report_ *= std::pow(10.0, -decades_per_line);
  }
}

void progress::draw(std::int64_t iteration, double residual) {
  const double done = std::clamp(std::log(residual) / std::log(std::min(goal_, 0.5)), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(done * bar_width);
  const std::string bar = std::string(filled, '#') + std::string(bar_width - filled, '.');
  std::printf("\r  [%s] iteration %lld  residual %.1e\033[K", bar.c_str(), static_cast<long long>(iteration), residual);
  std::fflush(stdout);
  drawn_ = true;
}

void progress::finish() {
  if (!drawn_) return;
  std::printf("\r\033[K");
  std::fflush(stdout);
  drawn_ = false;
}

}  // namespace cg
