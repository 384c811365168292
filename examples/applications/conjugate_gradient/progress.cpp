// Progress of an iteration on standard output.
#include "progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace cg {
namespace {

constexpr double decades_per_line = 2.0;
constexpr std::chrono::milliseconds redraw_interval{50};
constexpr int max_bar = 40, min_bar = 5;
constexpr int default_columns = 80;

int columns_of_terminal() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : default_columns;
}

}  // namespace

std::string progress_line(std::int64_t iteration, double residual, double goal, int columns) {
  const double way = std::log(residual) / std::log(std::min(goal, 0.5));
  const double done = std::isfinite(way) ? std::clamp(way, 0.0, 1.0) : residual == 0.0 ? 1.0 : 0.0;
  char text[80];
  std::snprintf(text, sizeof(text), " %3.0f %%  iteration %lld  residual %.1e", 100.0 * done,
                static_cast<long long>(iteration), residual);
  std::string beside = text;
  // One column stays free: some terminals wrap as soon as the last one is written.
  const int room = columns - 5 - static_cast<int>(beside.size());
  const int width = std::clamp(room, min_bar, max_bar);
  const auto filled = static_cast<std::size_t>(std::lround(done * width));
  const std::string bar = std::string(filled, '#') + std::string(static_cast<std::size_t>(width) - filled, '.');
  const std::string line = "  [" + bar + "]" + beside;
  return line.substr(0, static_cast<std::size_t>(std::max(columns - 1, 0)));
}

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
    std::fflush(stdout);
    while (residual <= next_report_ && next_report_ > 0.0) next_report_ *= std::pow(10.0, -decades_per_line);
  }
}

void progress::draw(std::int64_t iteration, double residual) {
  std::printf("\r%s\033[K", progress_line(iteration, residual, goal_, columns_of_terminal()).c_str());
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
