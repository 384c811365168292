// ham-bench respawn: from the death of a supervised target to the next call that is answered, and what is left behind.
#include "benchmarks.hpp"

#include "process_state.hpp"
#include "spread.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

/// What a process holds; NaN: not known.
struct holdings {
  double descriptors = 0;
  double maps = 0;
  double private_mib = std::numeric_limits<double>::quiet_NaN();
};

holdings of_this_process() {
  holdings result;
  const std::filesystem::directory_iterator open("/proc/self/fd");
  result.descriptors = static_cast<double>(std::distance(begin(open), end(open)));
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++result.maps;
  if (const auto bytes = private_bytes(getpid())) result.private_mib = static_cast<double>(*bytes) / (1 << 20);
  return result;
}

constexpr int nodes = 3;
constexpr std::array<const char*, nodes> names{"host", "target that is killed", "target that stays"};
using holdings_of_all = std::array<holdings, nodes>;

holdings_of_all of_all_nodes() {
  return {of_this_process(), offload::sync(1, fn<&of_this_process>), offload::sync(2, fn<&of_this_process>)};
}

/// What a node holds of a process that has died goes when it has noticed that: the least of some time.
holdings_of_all least_of_all_nodes() {
  holdings_of_all least = of_all_nodes();
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const holdings_of_all now = of_all_nodes();
    for (std::size_t node = 0; node < nodes; ++node) {
      least[node].descriptors = std::min(least[node].descriptors, now[node].descriptors);
      least[node].maps = std::min(least[node].maps, now[node].maps);
      least[node].private_mib = std::min(least[node].private_mib, now[node].private_mib);
    }
  }
  return least;
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

/// A call from the one that stays, which may not have noticed the death yet.
void call_killed_one() {
  for (const std::int64_t until = now_ns() + 10'000'000'000;;) {
    try {
      offload::sync(1, fn<&nothing>);
      return;
    } catch (const node_failure&) {
      if (now_ns() > until) throw;
    }
  }
}

/// The floor: this same program killed, reaped, started again, and ended.
double bare_restart_ms() {
  const std::int64_t begin = now_ns();
  const pid_t pid = spawn_self({std::string(floor_nothing_argument)});
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return static_cast<double>(now_ns() - begin) / 1e6;
}

/// What is left on the machine when the job has ended: processes that have inherited a variable of this run, and names
/// of shared memory.
class remains {
 public:
  remains() : names_before_(shared_names()) { setenv(name, value_.c_str(), 1); }
  ~remains() { unsetenv(name); }
  remains(const remains&) = delete;
  remains& operator=(const remains&) = delete;

  [[nodiscard]] std::size_t names() const {
    const std::set<std::string> now = shared_names();
    return static_cast<std::size_t>(
        std::count_if(now.begin(), now.end(), [this](const std::string& one) { return !names_before_.contains(one); }));
  }
  /// After at most 5 s in which they may end.
  [[nodiscard]] std::size_t processes() const {
    for (const std::int64_t until = now_ns() + 5'000'000'000;;) {
      const std::size_t found = processes_now();
      if (found == 0 || now_ns() > until) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  static constexpr const char* name = "HAM_BENCH_RUN";

  /// Other programs may use the folder meanwhile.
  static std::set<std::string> shared_names() {
    std::set<std::string> found;
    std::error_code ignored;
    for (const auto& one : std::filesystem::directory_iterator("/dev/shm", ignored)) {
      if (std::string file = one.path().filename(); file.find("ham") != std::string::npos)
        found.insert(std::move(file));
    }
    return found;
  }
  [[nodiscard]] std::size_t processes_now() const {
    const std::string mark = name + ("=" + value_);
    std::size_t found = 0;
    std::error_code ignored;
    for (const auto& one : std::filesystem::directory_iterator("/proc", ignored)) {
      std::ifstream environment(one.path() / "environ");
      for (std::string variable; std::getline(environment, variable, '\0');) found += variable == mark ? 1 : 0;
    }
    return found;
  }

  std::string value_ = std::to_string(getpid()) + "-" + std::to_string(now_ns());
  std::set<std::string> names_before_;
};

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
  const remains left_over;
  auto job = start_job(how, nodes - 1, pinning::by_default);
  offload::supervise(1, {.max_restarts = std::numeric_limits<std::size_t>::max()});
  pid_t pid = offload::sync(1, fn<&own_pid>);
  constexpr int kills_a_round = 143;  // 1001 in 7 rounds
  std::vector<double> times, floor;
  const auto kill_once = [&] {
    const double time = death_to_answer_ms(pid);
    offload::sync(2, fn<&call_killed_one>);  // so that it has something of each process
    return time;
  };
  for (int i = 0; i < 20; ++i) (void)kill_once();  // nodes remember the last 16 processes
  const holdings_of_all before = least_of_all_nodes();
  for (int i = 0; i < how.repetitions * kills_a_round; ++i) {
    times.push_back(kill_once());
    if (i % 10 == 0) floor.push_back(bare_restart_ms());
  }
  const holdings_of_all after = least_of_all_nodes();
  paired_rounds by_number;
  const node_t process = offload::process_of(1);
  for (int round = 0; round < how.repetitions; ++round) {
    take_round(
        by_number, round, [&] { return time_block([&] { offload::sync(process, fn<&nothing>); }, how.plan()); },
        [&] { return time_block([] { offload::sync(1, fn<&nothing>); }, how.plan()); });
  }
  job.reset();
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
  table held{"what the nodes hold", {"node", "", "descriptors", "maps", "private MiB"}, {}};
  result.bars = {{"death to answer, p99", p99, bar::direction::at_most, 100, "ms"}};
  for (std::size_t node = 0; node < nodes; ++node) {
    for (const auto& [when, of] : {std::pair("before", before[node]), std::pair("after", after[node])})
      held.rows.push_back({names[node], when, count(of.descriptors), count(of.maps), {of.private_mib, 2}});
    const std::string of = std::string(names[node]) + ": ";
    result.bars.push_back({of + "descriptors more than before", after[node].descriptors - before[node].descriptors,
                           bar::direction::at_most, 0, ""});
    result.bars.push_back(
        {of + "maps more than before", after[node].maps - before[node].maps, bar::direction::at_most, 2, ""});
    result.bars.push_back({of + "private memory more than before", after[node].private_mib - before[node].private_mib,
                           bar::direction::at_most, 1, "MiB"});
  }
  result.tables.push_back(std::move(found));
  result.tables.push_back(std::move(held));
  const comparison cost = by_number.compared();
  table calls{"an empty sync to the process that replaces it, by the number of the node; floor: by that of the process",
              {},
              {{}}};
  add_median_columns(calls.columns, "by number", "us");
  calls.columns.emplace_back("floor us");
  add_spread_columns(calls.columns, "ratio");
  add_median(calls.rows.back(), cost, 1000, 3);
  calls.rows.back().emplace_back(cost.floor / 1000, 3);
  add_ratio(calls.rows.back(), cost, 3);
  result.tables.push_back(std::move(calls));
  result.bars.push_back(
      {"processes that are left", static_cast<double>(left_over.processes()), bar::direction::at_most, 0, ""});
  result.bars.push_back(
      {"names in /dev/shm that are left", static_cast<double>(left_over.names()), bar::direction::at_most, 0, ""});
  result.remarks.emplace_back("bare process: this program started, and ended at once");
  return result;
}

}  // namespace ham::bench
