// Rounds of turns, and medians over the rounds.
#include "comparison.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "cores.hpp"
#include "local_system.hpp"

namespace cg {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_ratio(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> ratios(std::min(over.size(), under.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = over[i] / under[i];
  return median(std::move(ratios));
}

/// Somebody who takes turns, and the times of one iteration that were found.
struct contestant {
  linear_system* system;
  std::vector<double> seconds;

  void take_turn(std::int64_t iterations) {
    system->restart(start_at::zero);
    const auto start = clock::now();
    const auto done = static_cast<double>(system->iterate(iterations, 0.0).residuals.size());
    seconds.push_back(seconds_since(start) / std::max(1.0, done));
  }
};

}  // namespace

comparison compare_in_turns(linear_system& targets, std::size_t target_count, std::span<const int> cores,
                            const csr_matrix& matrix, std::span<const double> inverse_diagonal,
                            std::span<const double> b, std::int64_t iterations, double seconds) {
  constexpr double turn_seconds = 0.05;
  constexpr double enough_seconds = 2.0;
  constexpr int least_rounds = 5;
  constexpr int max_rounds = 25;
  local_system alone(matrix, inverse_diagonal, b);
  local_system threaded(matrix, inverse_diagonal, b, target_count);
  std::vector<contestant> all{{&targets, {}}, {&alone, {}}};
  threaded.use_cores({cores.begin(), cores.end()});
  if (target_count > 1 && target_count <= usable_cores().size()) all.push_back({&threaded, {}});
  const auto in_a_turn = static_cast<std::int64_t>(turn_seconds / std::max(seconds, 1e-9));
  const std::int64_t length = std::clamp<std::int64_t>(in_a_turn, 1, std::max<std::int64_t>(1, iterations));

  comparison result;
  const auto start = clock::now();
  while (result.rounds < least_rounds || (result.rounds < max_rounds && seconds_since(start) < enough_seconds)) {
    if (!cores.empty()) alone.use_cores({cores[static_cast<std::size_t>(result.rounds) % cores.size()]});
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[(i + static_cast<std::size_t>(result.rounds)) % all.size()].take_turn(length);
    }
    ++result.rounds;
  }
  result.targets_seconds = median(all[0].seconds);
  result.alone_seconds = median(all[1].seconds);
  result.alone_per_targets = median_ratio(all[1].seconds, all[0].seconds);
  if (all.size() > 2) {
    result.threads = target_count;
    result.threads_seconds = median(all[2].seconds);
    result.alone_per_threads = median_ratio(all[1].seconds, all[2].seconds);
    result.targets_per_threads = median_ratio(all[0].seconds, all[2].seconds);
  }
  return result;
}

}  // namespace cg
