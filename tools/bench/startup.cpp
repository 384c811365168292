// ham-bench startup.
#include "benchmarks.hpp"

#include "process_state.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct start_times {
  double up_ms = 0;
  double called_ms = 0;
  double ended_ms = 0;
  double private_mib = unknown;  ///< of the biggest target
  [[nodiscard]] double total_ms() const noexcept { return up_ms + called_ms + ended_ms; }
};

double ms_since(std::int64_t& mark) {
  const std::int64_t now = now_ns();
  return static_cast<double>(now - std::exchange(mark, now)) / 1e6;
}

double biggest_private_mib(int targets) {
  double biggest = unknown;
  for (node_t node = 1; node <= targets; ++node) {
    const auto bytes = private_bytes(static_cast<pid_t>(offload::get_node_descriptor(node).pid()));
    if (bytes) biggest = std::fmax(biggest, static_cast<double>(*bytes) / (1 << 20));
  }
  return biggest;
}

// Starts, calls once and ends; reading the memory is not timed.
start_times start_and_end(const settings& how, int targets) {
  start_times result;
  std::int64_t mark = now_ns();
  std::unique_ptr<runtime> up = start_job(how, targets, pinning::none);
  result.up_ms = ms_since(mark);
  for (node_t node = 1; node <= targets; ++node) offload::sync(node, fn<&nothing>);
  result.called_ms = ms_since(mark);
  result.private_mib = biggest_private_mib(targets);
  mark = now_ns();
  up.reset();
  result.ended_ms = ms_since(mark);
  return result;
}

// The floor: as many processes of this same program that end at once.
double bare_processes_ms(int count) {
  std::int64_t mark = now_ns();
  std::vector<pid_t> pids;
  pids.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) pids.push_back(spawn_self({std::string(floor_nothing_argument)}));
  for (const pid_t pid : pids) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return ms_since(mark);
}

}  // namespace

report run_startup(const settings& how) {
  pin_this_thread(how.all_cores);
  (void)start_and_end(how, 1);  // warms up
  const int most = how.max_targets > 0 ? how.max_targets : 128;
  report result{"startup", {}, {}, {}};
  table times{
      "targets started, called once each and ended; floor: as many bare processes of this program started and ended",
      {"targets"},
      {}};
  for (const char* name : {"up", "called", "ended", "total"}) add_median_columns(times.columns, name, "ms");
  times.columns.insert(times.columns.end(), {"floor ms", "ratio", "quartiles", "private MiB"});
  for (int targets = 1; targets <= most; targets *= 2) {
    std::vector<double> up;
    std::vector<double> called;
    std::vector<double> ended;
    std::vector<double> total;
    std::vector<double> floor;
    double private_mib = unknown;
    for (int round = 0; round < how.repetitions; ++round) {
      floor.push_back(bare_processes_ms(targets));
      const start_times found = start_and_end(how, targets);
      up.push_back(found.up_ms);
      called.push_back(found.called_ms);
      ended.push_back(found.ended_ms);
      total.push_back(found.total_ms());
      private_mib = std::fmax(private_mib, found.private_mib);
    }
    const comparison job = compare(total, floor);
    auto& row = times.rows.emplace_back(std::vector<cell>{count(targets)});
    for (const auto* one : {&up, &called, &ended, &total}) add_median(row, *one, 1, 2);
    row.insert(row.end(), {{job.floor, 2}, {job.median_of_ratios, 2}, quartiles_of_ratio(job), {private_mib, 2}});
    if (targets == 128) {
      result.bars = {
          {"128 targets started, called once and ended", job.measured / 1e3, bar::direction::at_most, 3, "s"},
          {"private memory of the biggest of 128 targets", private_mib, bar::direction::at_most, 3, "MiB"}};
    }
  }
  result.tables.push_back(std::move(times));
  result.remarks.emplace_back(
      "private: the biggest Private_Clean + Private_Dirty of any target, /proc/PID/smaps_rollup; "
      "no target is pinned here");
  return result;
}

}  // namespace ham::bench
