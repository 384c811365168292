// Settings of a run, and what nearly every benchmark stands on: a runtime with pinned targets and the floor's partner.
#pragma once

#include "affinity.hpp"
#include "floor_partner.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <ham/offload.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::bench {

/// What the command line says.
struct settings {
  std::string transport = "shm";
  std::string link;  ///< settings of an emulated link
  int repetitions = 7;
  double block_ms = 25;
  std::size_t largest_bytes = std::size_t{256} << 20;  ///< of bandwidth and values
  int max_targets = 0;                                 ///< of startup, scale, groups and graphs; 0: their own defaults
  core_pair cores;
  std::vector<int> all_cores;  ///< that the process was given

  [[nodiscard]] block_plan plan() const noexcept {
    block_plan result;
    result.length_ns = static_cast<std::int64_t>(block_ms * 1e6);
    return result;
  }
};

/// First argument of a target's process; main() passes such a call on to run_target().
inline constexpr std::string_view target_argument = "target";

/// Main program of a target: comes to a runtime at once, whatever was measured when it was started.
int run_target(int argc, char** argv);

enum class pinning { two_cores, none, by_default };

/// A job with `targets` targets of the chosen transport; when pinned, the host on the one core, all targets on the
/// other. `trace`: the file that it is traced to, unless that is empty.
[[nodiscard]] std::unique_ptr<runtime> start_job(const settings& how, int targets, pinning where,
                                                 const std::string& trace = {});

/// The function that does nothing: what is left is the cost of calling.
void nothing();

/// A runtime with its targets up and called once, and the partner that measures the floor on the same two cores.
/// The floor's partner and the targets share a core; whichever is not measured sleeps.
class session {
 public:
  explicit session(const settings& how, int targets = 1);

  [[nodiscard]] const settings& how() const noexcept { return how_; }
  [[nodiscard]] floor_partner& partner() noexcept { return partner_; }
  [[nodiscard]] pid_t pid_of(node_t node) const;

  /// A block of the cache-line floor, begun when all targets sleep.
  [[nodiscard]] block_times bounce();

  /// Waits until every target sleeps; counts the times that one would not.
  void let_targets_sleep();

  /// Remarks on how the run went: one core only, targets that would not sleep.
  void add_remarks(report& to) const;

 private:
  settings how_;
  std::unique_ptr<runtime> runtime_;
  floor_partner partner_;
  std::vector<pid_t> pids_;
  int restless_ = 0;
};

/// Rounds of a floor and of the measurement beside it.
struct paired_rounds {
  std::vector<double> measured;
  std::vector<double> floor;
  std::vector<double> singles;        ///< single times of the measurement, all rounds together
  std::vector<double> floor_singles;  ///< of the floor

  void add(const block_times& measured_block, const block_times& floor_block);
  [[nodiscard]] comparison compared() const { return compare(measured, floor); }
};

/// Takes one round: the floor first or the measurement first, in turn, so that neither always follows the other.
void take_round(paired_rounds& into, int round, const std::function<block_times()>& floor,
                const std::function<block_times()>& measured);

}  // namespace ham::bench
