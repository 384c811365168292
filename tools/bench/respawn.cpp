// ham-bench respawn: from the death of a supervised target to the next call that is answered, and what is left behind.
#include "benchmarks.hpp"

#include "process_state.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

/// What the host holds.
struct holdings {
  std::size_t descriptors = 0;
  std::size_t maps = 0;
  double private_mib = std::numeric_limits<double>::quiet_NaN();
};

holdings of_this_process() {
  holdings result;
  const std::filesystem::directory_iterator open("/proc/self/fd");
  result.descriptors = static_cast<std::size_t>(std::distance(begin(open), end(open)));
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++result.maps;
  if (const auto bytes = private_bytes(getpid())) result.private_mib = static_cast<double>(*bytes) / (1 << 20);
  return result;
}

pid_t own_pid() { return getpid(); }

/// Kills the target; calls until there is an answer. A call that was sent before the death was noticed fails, as it
/// should, and is made again.
double death_to_answer_ms(pid_t& pid) {
  const std::int64_t begin = now_ns();
  if (kill(pid, SIGKILL) != 0) throw std::system_error(errno, std::generic_category(), "kill");
  for (const pid_t before = pid; pid == before;) {
    try {
      pid = offload::sync(1, fn<&own_pid>);
    } catch (const node_failure& failure) {
      if (now_ns() - begin > 10'000'000'000) throw;
    }
  }
  return static_cast<double>(now_ns() - begin) / 1e6;
}

/// The floor: this same program killed, reaped, started again, and ended.
double bare_restart_ms() {
  const std::int64_t begin = now_ns();
  const pid_t pid = spawn_self({std::string(floor_nothing_argument)});
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return static_cast<double>(now_ns() - begin) / 1e6;
}

/// The library reports each death on stderr, unless the program's user has said what it is to report.
class quiet_deaths {
 public:
  quiet_deaths() : ours_(std::getenv(name) == nullptr) {
    if (ours_) setenv(name, "error", 1);
  }
  ~quiet_deaths() {
    if (ours_) unsetenv(name);
  }
  quiet_deaths(const quiet_deaths&) = delete;
  quiet_deaths& operator=(const quiet_deaths&) = delete;

 private:
  static constexpr const char* name = "HAM_LOG";
  bool ours_;
};

}  // namespace

report run_respawn(const settings& how) {
  const quiet_deaths quiet;
  const auto job = start_job(how, 1, pinning::by_default);
  offload::supervise(1, {.max_restarts = std::numeric_limits<std::size_t>::max()});
  pid_t pid = offload::sync(1, fn<&own_pid>);
  constexpr int kills_a_round = 143;  // 1001 in 7 rounds
  std::vector<double> times, floor;
  for (int i = 0; i < 10; ++i) (void)death_to_answer_ms(pid);
  const holdings before = of_this_process();
  for (int i = 0; i < how.repetitions * kills_a_round; ++i) {
    times.push_back(death_to_answer_ms(pid));
    if (i % 10 == 0) floor.push_back(bare_restart_ms());
  }
  const holdings after = of_this_process();
  report result{"respawn", {}, {}, {}};
  const double p99 = quantile(times, 0.99);
  table found{"from kill -9 of a supervised target to the first answer of the process that replaces it",
              {"kills", "p50 ms", "p99 ms", "most ms", "bare process ms", "p50 / bare process"},
              {{count(times.size()),
                {median(times), 2},
                {p99, 2},
                {*std::max_element(times.begin(), times.end()), 2},
                {median(floor), 2},
                {median(times) / median(floor), 2}}}};
  table left{"what the host holds", {"", "descriptors", "maps", "private MiB"}, {}};
  for (const auto& [name, what] : {std::pair("before", before), std::pair("after", after)})
    left.rows.push_back({name, count(what.descriptors), count(what.maps), {what.private_mib, 2}});
  result.tables.push_back(std::move(found));
  result.tables.push_back(std::move(left));
  result.bars = {
      {"death to answer, p99", p99, bar::direction::at_most, 100, "ms"},
      {"descriptors more than before", static_cast<double>(after.descriptors) - static_cast<double>(before.descriptors),
       bar::direction::at_most, 0, ""},
      {"maps more than before", static_cast<double>(after.maps) - static_cast<double>(before.maps),
       bar::direction::at_most, 2, ""},
      {"private memory more than before", after.private_mib - before.private_mib, bar::direction::at_most, 1, "MiB"}};
  result.remarks.emplace_back("bare process: this program started, and ended at once");
  return result;
}

}  // namespace ham::bench
