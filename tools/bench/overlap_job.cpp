// Work of a given length on host and target at once.
#include "overlap_job.hpp"

#include "affinity.hpp"
#include "process_state.hpp"
#include "statistics.hpp"
#include "timing.hpp"

#include <ham/offload.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ham::inline v1::bench {

namespace {

constexpr std::int64_t warm_up_ns = 50'000'000;

std::int64_t thread_time_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// Processor time, not time on the clock: who is off its core does not get on with it.
void compute(std::int64_t work_ns) {
  const std::int64_t end = thread_time_ns() + work_ns;
  while (thread_time_ns() < end) {
  }
}

void step(const job_work& work) {
  const auto work_ns = static_cast<std::int64_t>(work.step_us * 1e3);
  auto there = offload::async(1, fn<&compute>, work_ns);
  if (work.host_works) compute(work_ns);
  there.get();
}

}  // namespace

int run_overlap_job(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") == nullptr) prctl(PR_SET_PDEATHSIG, SIGKILL);  // targets end with it anyway
  job_work work;
  if (argc > 2) work.length_ms = std::atof(argv[2]);
  if (argc > 3) work.step_us = std::atof(argv[3]);
  if (argc > 4) work.host_works = std::atoi(argv[4]) != 0;
  const runtime job(argc, argv);
  std::int64_t end = now_ns() + warm_up_ns;
  while (now_ns() < end) step(work);
  std::vector<double> times;
  end = now_ns() + static_cast<std::int64_t>(work.length_ms * 1e6);
  for (std::int64_t begin = now_ns(); begin < end;) {
    step(work);
    const std::int64_t after = now_ns();
    times.push_back(static_cast<double>(after - begin) / 1e3);
    begin = after;
  }
  const step_times found{quantile_in_place(times, 0.5), quantile_in_place(times, 0.9)};
  return ::write(3, &found, sizeof found) == sizeof found ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run_busy(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (const int core = argc > 2 ? std::atoi(argv[2]) : -1; core >= 0) pin_this_thread(core);
  for (volatile unsigned turns = 0;;) turns = turns + 1;
}

step_times measure_overlap(const std::string& placement, const job_work& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "no pipe");
  const pid_t pid =
      spawn_self({std::string(overlap_job_argument), std::to_string(work.length_ms), std::to_string(work.step_us),
                  work.host_works ? "1" : "0", "--ham-nodes=shm:1", "--ham-cpu-affinity=" + placement},
                 ends[1]);
  close(ends[1]);
  step_times found;
  ssize_t got = 0;
  while ((got = ::read(ends[0], &found, sizeof found)) < 0 && errno == EINTR) {
  }
  close(ends[0]);
  waitpid(pid, nullptr, 0);
  if (got != sizeof found) throw std::runtime_error("the job of the overlap benchmark has failed");
  return found;
}

busy_processes::busy_processes(const std::vector<int>& cores, const std::string& job) {
  for (const int core : cores) pids_.push_back(spawn_self({std::string(busy_argument), std::to_string(core)}));
  if (job.empty()) return;
  constexpr const char* for_ever_ms = "1e9";
  pids_.push_back(
      spawn_self({std::string(overlap_job_argument), for_ever_ms, "--ham-nodes=shm:1", "--ham-cpu-affinity=" + job}));
}

busy_processes::~busy_processes() {
  for (const pid_t pid : pids_) kill(pid, SIGKILL);
  for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
}

}  // namespace ham::bench
