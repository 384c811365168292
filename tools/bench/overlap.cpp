// ham-bench overlap.
#include "benchmarks.hpp"

#include "overlap_job.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

/// Who else wants the cores while a job is measured.
struct situation {
  std::string name;
  std::vector<int> busy;       ///< processes, by the core that each stays on; -1: any
  std::string job = {};        ///< another job that does the same, on these cores
  bool against_pinned = true;  ///< the default is held against two cores, else against the system's choice
  job_work work = {};
};

struct placement {
  const char* name;
  std::string cores;  ///< as --ham-cpu-affinity
  std::vector<double> p50_us, p90_us;
};

std::string pinned_cores(const settings& how) {
  return std::to_string(how.cores.host) + "," + std::to_string(how.cores.target);
}

std::vector<situation> situations_of(const settings& how) {
  const std::vector<int> two_each(how.all_cores.size() * 2, -1);
  const std::vector<int> four_each(how.all_cores.size() * 4, -1);
  return {{"quiet", {}},
          {"beside 1 busy process", {-1}},
          {"beside 2 per core", two_each, {}, false},
          {"beside 4 per core", four_each, {}, false},
          {"beside 2 that stay on the target's core", {how.cores.target, how.cores.target}, {}, false},
          {"beside a job on the same cores", {}, pinned_cores(how), false}};
}

/// Steps so long that the others get their turns within them, and a host that waits: its core is free, and who stays on
/// the target's core loses.
std::vector<situation> long_situations_of(const settings& how) {
  const job_work work{600, 5000, false};
  const std::vector<int> four(4, how.cores.target);
  return {{"quiet", {}, {}, false, work},
          {"beside 1 that stays on the target's core", {how.cores.target}, {}, false, work},
          {"beside 4 that stay on the target's core", four, {}, false, work}};
}

std::array<placement, 3> placements_of(const settings& how) {
  return {{{"pinned", pinned_cores(how), {}, {}}, {"default", "auto", {}, {}}, {"none", "none", {}, {}}}};
}

void measure(const situation& beside, std::array<placement, 3>& all, const settings& how) {
  const busy_processes busy(beside.busy, beside.job);
  job_work work = beside.work;
  work.length_ms = std::max(10 * how.block_ms, work.length_ms);  // several time slices of the others have to fit in
  for (int round = 0; round < how.repetitions; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      placement& one = all[(i + static_cast<std::size_t>(round)) % all.size()];
      const step_times found = measure_overlap(one.cores, work);
      one.p50_us.push_back(found.p50_us);
      one.p90_us.push_back(found.p90_us);
    }
  }
}

table measure_all(const std::string& title, const std::vector<situation>& situations, const settings& how, report& to) {
  table times{title, {"situation", "placement"}, {}};
  for (const char* name : {"p50", "p90"}) add_median_columns(times.columns, name, "us");
  times.columns.insert(times.columns.end(), {"p50 / pinned", "quartiles", "p90 / pinned", "p50 / none"});
  for (const situation& beside : situations) {
    std::array<placement, 3> all = placements_of(how);
    measure(beside, all, how);
    for (const placement& one : all) {
      const comparison p50 = compare(one.p50_us, all[0].p50_us);
      const comparison p90 = compare(one.p90_us, all[0].p90_us);
      const comparison free = compare(one.p50_us, all[2].p50_us);
      auto& row = times.rows.emplace_back(std::vector<cell>{beside.name, one.name});
      for (const comparison* measured : {&p50, &p90}) add_median(row, *measured, 1, 1);
      row.insert(
          row.end(),
          {{p50.median_of_ratios, 3}, quartiles_of_ratio(p50), {p90.median_of_ratios, 3}, {free.median_of_ratios, 3}});
    }
    // Where there is not room for all, time slices make single runs differ several times over: no bar.
    if (!beside.against_pinned) continue;
    to.bars.push_back({beside.name + ", default / pinned, p50", compare(all[1].p50_us, all[0].p50_us).median_of_ratios,
                       bar::direction::at_most, 1.1, ""});
  }
  return times;
}

}  // namespace

report run_overlap(const settings& how) {
  report result{"overlap", {}, {}, {}};
  result.tables.push_back(measure_all("60 us of work on the host and 60 us on the target at once, then the next step",
                                      situations_of(how), how, result));
  result.tables.push_back(measure_all("5 ms of work on the target while the host waits, then the next step",
                                      long_situations_of(how), how, result));
  result.remarks.emplace_back(
      "every figure is of a job of its own; p50 and p90 over the steps of one, then the median over the repetitions");
  if (how.all_cores.size() < 2) result.remarks.emplace_back("one core only: nothing can overlap");
  return result;
}

}  // namespace ham::bench
