// Counters of this user's jobs, found in /proc, and what can be said of durations.
#include "ham/offload/counters.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/own_counters.hpp"
#include "base/process_end.hpp"
#include "runtime/job_counters.hpp"
#include "runtime/recorder_files.hpp"

namespace ham::inline v1 {
namespace detail {
namespace {

std::uint64_t rss_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return file ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

struct search_result {
  std::vector<found_counters> found;
  bool refused = false;  ///< there are processes whose files are not shown
};

search_result find_counters() {
  constexpr std::array<std::string_view, 1> names{base::counter_file_name};
  std::map<file_id, base::counter_reading> read;
  const recorder_files files = find_memory_files(names, [&](file_id id, int fd, std::uint64_t) {
    const std::vector<std::byte> bytes = base::read_counter_area(fd);
    if (auto one = base::parse_counters(bytes)) read.emplace(id, std::move(*one));
  });
  search_result result;
  result.refused = files.refused;
  for (const auto& [pid, open] : files.of) {
    for (const file_id& id : open) {
      if (auto one = read.extract(id)) result.found.push_back({std::move(one.mapped()), rss_of(pid)});
    }
  }
  return result;
}

double now_s() { return static_cast<double>(base::now_ns()) * 1e-9; }

bool has_process(const job_counters& job, std::int64_t pid) {
  return job.pid == pid || std::any_of(job.nodes.begin(), job.nodes.end(),
                                       [&](const node_counters& one) { return one.pid == pid && !one.seen_by_host; });
}

}  // namespace
}  // namespace detail

const char* to_string(node_counters::activity what) noexcept {
  switch (what) {
    case node_counters::activity::busy: return "busy";
    case node_counters::activity::spinning: return "spinning";
    case node_counters::activity::asleep: return "asleep";
    case node_counters::activity::away: return "away";
    case node_counters::activity::gone: return "gone";
    case node_counters::activity::unknown: break;
  }
  return "unknown";
}

double quantile(const std::vector<node_counters::duration>& took, double share) noexcept {
  std::uint64_t all = 0;
  for (const node_counters::duration& one : took) all += one.calls;
  if (all == 0) return -1;
  const double wanted = std::max(1.0, std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(all)));
  double so_far = 0;
  for (const node_counters::duration& one : took) {
    so_far += static_cast<double>(one.calls);
    if (so_far >= wanted) return one.max_s;
  }
  return took.back().max_s;
}

std::vector<node_counters::duration> added(const std::vector<node_counters::duration>& before,
                                           const std::vector<node_counters::duration>& now) {
  constexpr double same =
      1.05;  // bounds of one bucket differ by less, those of two by more: how long a tick is is measured
  std::vector<node_counters::duration> result;
  auto old = before.begin();
  for (const node_counters::duration& one : now) {
    while (old != before.end() && old->max_s * same < one.max_s) ++old;
    const bool had = old != before.end() && old->max_s < one.max_s * same;
    const std::uint64_t calls = had ? one.calls - std::min(old->calls, one.calls) : one.calls;
    if (calls != 0) result.push_back({one.max_s, calls});
  }
  return result;
}

std::vector<job_counters> read_counters() {
  const detail::search_result all = detail::find_counters();
  return detail::jobs_of(all.found, detail::now_s());
}

std::vector<job_counters> read_counters(std::int64_t pid) {
  const detail::search_result all = detail::find_counters();
  std::vector<job_counters> jobs = detail::jobs_of(all.found, detail::now_s());
  const bool is_process = pid > 0;  // -1 stands for hosts elsewhere
  std::erase_if(jobs, [&](const job_counters& one) { return !is_process || !detail::has_process(one, pid); });
  if (!jobs.empty()) return jobs;
  const std::string who = "process " + std::to_string(pid);
  throw config_error(
      "there are no counters of " + who +
      (base::process_is_there(pid)
           ? " (it is in no job of HAM" +
                 std::string(all.refused ? ", or belongs to another user, as whom this has to run)" : ")")
           : std::string(" (it has ended)")) +
      "; give the pid of a host or of a target");
}

}  // namespace ham
