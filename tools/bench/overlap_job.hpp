// The other processes of ham-bench overlap: a job that computes on two nodes at once, and processes that are in its
// way.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::bench {

/// First arguments of these processes; main() passes such a call on to run_overlap_job() and run_busy().
inline constexpr std::string_view overlap_job_argument = "overlap-job";
inline constexpr std::string_view busy_argument = "busy-process";

/// What a job found: times of one step, in microseconds.
struct step_times {
  double p50_us = 0;
  double p90_us = 0;
};

/// What a job does over and over.
struct job_work {
  double length_ms = 100;  ///< for so long
  double step_us = 60;     ///< of processor time on the target
  bool host_works = true;  ///< and as much on the host at once; else the host waits
};

/// main of the job; writes a step_times to descriptor 3.
int run_overlap_job(int argc, char** argv);
/// main of a busy process: takes all the time that it is given, on `core` if that is not negative, until it is killed
/// or its parent ends.
int run_busy(int argc, char** argv);

/// Starts a job with --ham-cpu-affinity=`placement` on a machine as it is now, and waits for what it finds. Throws
/// std::runtime_error if it fails.
[[nodiscard]] step_times measure_overlap(const std::string& placement, const job_work& work);

/// Processes that compute while this lives.
class busy_processes {
 public:
  /// One per entry of `cores`: a core to stay on, or -1; and a job as is measured, with this --ham-cpu-affinity, unless
  /// that is empty.
  busy_processes(const std::vector<int>& cores, const std::string& job);
  ~busy_processes();
  busy_processes(const busy_processes&) = delete;
  busy_processes& operator=(const busy_processes&) = delete;

 private:
  std::vector<pid_t> pids_;
};

}  // namespace ham::bench
