// The host's part: it hands out rows, says how far to go, collects the state now and then, and goes on from there when
// a target dies.
#pragma once

#include <ham/offload.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shallow_water/checkpoint.hpp"

namespace shallow_water {

/// A target that is to kill itself, to try what happens then.
struct planned_death {
  std::size_t place = 0;  ///< among the targets, from 1; 0: none
  std::uint64_t step = 0;
};

class simulation {
 public:
  /// Goes on from `start` on these targets, of which there must be one.
  simulation(checkpoint start, std::vector<ham::node_t> targets, planned_death death = {});
  ~simulation();
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  /// Advances to `step`, beyond the one that it is at, and collects the state. If targets die, the others go on from
  /// the state that was collected last. Throws what ham::offload throws, ham::node_failure if no target is left.
  void advance_to(std::uint64_t step);

  [[nodiscard]] const checkpoint& now() const { return now_; }
  /// What was lost on the way, one line each.
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }
  /// In steps on targets, and in moving the state to and from them.
  [[nodiscard]] double computing_seconds() const { return computing_seconds_; }
  [[nodiscard]] double moving_seconds() const { return moving_seconds_; }
  /// In steps that were lost with a target, until the host knew; and in giving up what the others had.
  [[nodiscard]] double lost_seconds() const { return lost_seconds_; }
  [[nodiscard]] double giving_up_seconds() const { return giving_up_seconds_; }
  [[nodiscard]] std::size_t targets() const { return targets_.size(); }

 private:
  struct part;

  void distribute();
  void collect();
  void run(std::uint64_t steps);
  void give_up() noexcept;
  void drop_lost(const ham::node_failure& why);

  checkpoint now_;
  std::vector<ham::node_t> targets_;
  planned_death death_;
  std::vector<std::unique_ptr<part>> parts_;  // none: the state is not on the targets
  std::vector<std::string> failures_;
  double computing_seconds_ = 0.0;
  double moving_seconds_ = 0.0;
  double lost_seconds_ = 0.0;
  double giving_up_seconds_ = 0.0;
};

}  // namespace shallow_water
