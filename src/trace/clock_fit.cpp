#include "trace/clock_fit.hpp"

#include <algorithm>
#include <cmath>

namespace ham::inline v1::trace {
namespace {

constexpr double max_drift = 1e-4;    // of two quartzes
constexpr double min_apart_ns = 1e8;  // of two samples that a drift is taken from

double width(const offset_limits& one) noexcept { return one.most - one.least; }
double middle(const offset_limits& one) noexcept { return one.least + width(one) / 2; }

/// The sample with the narrowest limits from `begin` to `end`, or nullptr.
const offset_limits* best_between(const std::vector<offset_limits>& samples, double begin, double end) {
  const offset_limits* best = nullptr;
  for (const offset_limits& one : samples) {
    const bool better = std::isfinite(width(one)) && (best == nullptr || width(one) < width(*best));
    if (one.at >= begin && one.at <= end && better) best = &one;
  }
  return best;
}

/// What all samples leave of the offset, beside the line.
offset_limits left_over(const std::vector<offset_limits>& samples, const clock_line& line) {
  offset_limits all;
  for (const offset_limits& one : samples) {
    const double offset = line.to_reference(one.at) - one.at;
    all.least = std::max(all.least, one.least - offset);
    all.most = std::min(all.most, one.most - offset);
  }
  return all;
}

/// Through the best sample of the first third of the time and that of the last; how far off it may be.
double lay_through(clock_line& line, const offset_limits& first, const offset_limits& last, double begin, double end) {
  const double apart = last.at - first.at;
  line.at = first.at;
  line.offset = middle(first);
  line.drift = std::clamp((middle(last) - middle(first)) / apart, -10 * max_drift, 10 * max_drift);
  const auto error_at = [&](double ns) {
    const double share = (ns - first.at) / apart;
    return std::abs(1 - share) * width(first) / 2 + std::abs(share) * width(last) / 2;
  };
  return std::max(error_at(begin), error_at(end));
}

}  // namespace

clock_line fit_clock(const std::vector<offset_limits>& samples, bool same_clock, double begin, double end) {
  clock_line line;
  line.samples = static_cast<std::size_t>(std::count_if(
      samples.begin(), samples.end(), [](const offset_limits& one) { return std::isfinite(width(one)); }));
  const offset_limits* const best = best_between(samples, begin, end);
  if (best == nullptr) return line;
  const double third = (end - begin) / 3;
  const offset_limits* const first = best_between(samples, begin, begin + third);
  const offset_limits* const last = best_between(samples, end - third, end);
  double error = -1;
  if (!same_clock && first != nullptr && last != nullptr && last->at - first->at >= min_apart_ns) {
    error = lay_through(line, *first, *last, begin, end);
  } else {
    line.at = best->at;
    line.offset = middle(*best);
    if (!same_clock) error = width(*best) / 2 + max_drift * std::max(best->at - begin, end - best->at);
  }
  const offset_limits left = left_over(samples, line);
  const bool agree = left.least <= left.most;
  if (agree || same_clock) {
    line.offset += middle(left);
    line.bound = std::max(std::abs(width(left)) / 2, error);
  } else {
    line.bound = std::max(error, std::max(left.least, -left.most));
  }
  return line;
}

}  // namespace ham::trace
