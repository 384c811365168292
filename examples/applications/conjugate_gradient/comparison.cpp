// Rounds of turns, and the best turn of each contestant.
#include "comparison.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace cg {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

/// Of one iteration.
double seconds_of_turn(linear_system& system, std::int64_t iterations) {
  system.restart(start_at::zero);
  const auto start = clock::now();
  const auto done = static_cast<double>(system.iterate(iterations, 0.0).residuals.size());
  return seconds_since(start) / std::max(1.0, done);
}

}  // namespace

comparison compare_in_turns(const contestants& who, std::int64_t iterations, double seconds,
                            const std::function<void(int round)>& before_round) {
  constexpr double enough_seconds = 2.0;
  constexpr int least_rounds = 5;
  constexpr int max_rounds = 100;
  const auto in_a_turn = static_cast<std::int64_t>(who.turn_seconds / std::max(seconds, 1e-9));
  const std::int64_t length = std::clamp<std::int64_t>(in_a_turn, 1, std::max<std::int64_t>(1, iterations));

  comparison result;
  struct contestant {
    linear_system* system;
    double* best;
  };
  const std::vector<contestant> all{{who.targets, &result.targets},
                                    {who.one_target, &result.one_target},
                                    {who.one_thread, &result.one_thread},
                                    {who.threads, &result.threads}};
  const auto start = clock::now();
  while (result.rounds < least_rounds || (result.rounds < max_rounds && seconds_since(start) < enough_seconds)) {
    before_round(result.rounds);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto [system, best] = all[(i + static_cast<std::size_t>(result.rounds)) % all.size()];
      if (system == nullptr) continue;
      const double turn = seconds_of_turn(*system, length);
      *best = *best > 0.0 ? std::min(*best, turn) : turn;
    }
    ++result.rounds;
  }
  return result;
}

}  // namespace cg
