// ham_sim: simulates a job for each of many seeds; a failure is made small, shown, and can be replayed.
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/recording.hpp"
#include "sim/runs.hpp"
#include "sim/stacks.hpp"

#ifdef HAM_SIM_PLANTED
#include "planted_names.hpp"
/// The bug that is switched on in the library (planted_bugs.py), from 1; 0: none.
extern "C" int ham_planted_bug;
int ham_planted_bug = 0;
#endif

namespace {

using namespace ham::sim;

constexpr const char* again = "HAM_SIM_ADDRESSES";  // set: this process has the addresses that all have

/// Addresses decide about order in places: they must be the same in all processes.
void fix_addresses(char** argv) {
  const int before = ::personality(0xffffffff);
  if (before == -1 || (before & ADDR_NO_RANDOMIZE) != 0 || std::getenv(again) != nullptr) return;
  if (::personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE) == -1) {
    std::fprintf(
        stderr,
        "ham_sim: addresses differ from process to process (personality(ADDR_NO_RANDOMIZE): %s), so that a seed may "
        "not show the same in another one; allow it (docker: --security-opt seccomp=unconfined)\n",
        std::strerror(errno));
    return;
  }
  ::setenv(again, "1", 1);
  ::execv("/proc/self/exe", argv);
}

/// The C library's memory comes from one place, whichever thread asks for it, and stays with the process.
void use_one_heap() {
  constexpr int bytes = 1 << 28;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, bytes);
  ::mallopt(M_TRIM_THRESHOLD, bytes);
  ::mallopt(M_TOP_PAD, 1 << 22);
}

/// Its next runs find their memory in the core's cache.
void stay_on_core(unsigned number) {
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return;
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &all)) cores.push_back(core);
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cores[number % cores.size()], &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

/// What the processes that work through the seeds share.
struct board {
  std::uint64_t next;
  std::uint64_t simulated;    ///< seeds
  std::uint64_t failed_seed;  ///< the first that was found
  std::uint64_t failures;
  std::uint64_t hash;  ///< of all, whatever their order
  std::uint64_t hand_overs;
  std::uint64_t calls;
  std::uint64_t differing;  ///< seeds of which two runs were not the same
};

/// Whether what has run so far has taken no more than `seconds` of each of so many cores; a line on stderr if it has.
/// What other programs take of the cores does not count.
bool ends_in_time(double seconds, unsigned cores) {
  rusage all{};
  ::getrusage(RUSAGE_CHILDREN, &all);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  const double used = (seconds_of(all.ru_utime) + seconds_of(all.ru_stime)) / cores;
  if (used <= seconds) return true;
  std::fprintf(stderr, "ham_sim: it has taken %.1f s of each of %u cores, and --at-most is %.1f\n", used, cores,
               seconds);
  return false;
}

int show(const plan& what) {
  plan loud = what;
  loud.verbose = true;
  const run shown = run_once(loud);
  std::fputs(shown.said.c_str(), stdout);
  if (shown.failed) return 1;
  std::printf(
      "seed %llu: ok, trace %016llx, %llu hand-overs, %llu calls of which %llu ran and %llu failed as they had to\n",
      static_cast<unsigned long long>(what.seed), static_cast<unsigned long long>(shown.result.hash),
      static_cast<unsigned long long>(shown.result.hand_overs), static_cast<unsigned long long>(shown.result.calls),
      static_cast<unsigned long long>(shown.result.executed), static_cast<unsigned long long>(shown.result.failed));
  return 0;
}

/// What is done with every seed.
struct task {
  std::uint64_t end = 0;
  bool until_failure = false;
  bool twice = false;
  std::vector<std::string> expected;  ///< how seeds have to fail; none: they must not

  /// `kind` has had numbers between spaces, perhaps negative ones.
  [[nodiscard]] bool expects(std::string kind) const {
    for (std::size_t at = 0; (at = kind.find(" - ", at)) != std::string::npos;) kind.erase(at, 2);
    const auto both_spaces = [](char left, char right) { return left == ' ' && right == ' '; };
    kind.erase(std::unique(kind.begin(), kind.end(), both_spaces), kind.end());
    return std::any_of(expected.begin(), expected.end(), [&](const std::string& one) { return kind.starts_with(one); });
  }
};

run run_by_system_calls(const plan& what) {
  switch_by_system_calls(true);
  run one = run_once(what);
  switch_by_system_calls(false);
  return one;
}

void work(board& shared, plan what, const task& how) {
  for (;;) {
    what.seed = __atomic_fetch_add(&shared.next, 1, __ATOMIC_SEQ_CST);
    if (what.seed >= how.end) return;
    if (how.until_failure && __atomic_load_n(&shared.failures, __ATOMIC_SEQ_CST) != 0) return;
    const run one = run_once(what);
    __atomic_fetch_add(&shared.simulated, 1, __ATOMIC_SEQ_CST);
    if (one.failed && !how.expected.empty() && !how.expects(one.kind())) {
      std::printf("seed %llu: not as expected: %s\n", static_cast<unsigned long long>(what.seed), one.kind().c_str());
      std::fflush(stdout);
      continue;
    }
    if (one.failed) {
      if (__atomic_fetch_add(&shared.failures, 1, __ATOMIC_SEQ_CST) == 0)
        __atomic_store_n(&shared.failed_seed, what.seed, __ATOMIC_SEQ_CST);
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(what.seed), one.kind().c_str());
      std::fflush(stdout);
      continue;
    }
    if (how.twice && run_by_system_calls(what).result.hash != one.result.hash) {
      __atomic_fetch_add(&shared.differing, 1, __ATOMIC_SEQ_CST);
      std::printf("seed %llu: two runs are not the same\n", static_cast<unsigned long long>(what.seed));
      std::fflush(stdout);
    }
    __atomic_fetch_add(&shared.hash, one.result.hash * (2 * what.seed + 1), __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&shared.hand_overs, one.result.hand_overs, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&shared.calls, one.result.calls, __ATOMIC_SEQ_CST);
  }
}

/// Of the kinds with these names; nothing, and a line on stderr, if there is none of one.
std::optional<step_set> set_of(const std::vector<std::string>& names) {
  step_set all = 0;
  for (const std::string& name : names) {
    unsigned kind = 0;
    while (kind < steps_there_are && name_of(static_cast<step>(kind)) != name) ++kind;
    if (kind == steps_there_are) {
      std::fprintf(stderr, "ham_sim: there is no kind of step \"%s\"; there are:", name.c_str());
      for (unsigned i = 0; i < steps_there_are; ++i) {
        const std::string_view known = name_of(static_cast<step>(i));
        std::fprintf(stderr, " %.*s", static_cast<int>(known.size()), known.data());
      }
      std::fprintf(stderr, "\n");
      return std::nullopt;
    }
    all |= ham::sim::set_of(static_cast<step>(kind));
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  fix_addresses(argv);
  use_one_heap();
  ::setenv("HAM_POOL_THREADS", "2", 1);  // whatever the machine has
  ::setenv("HAM_RECORDER", "off", 1);    // its memory is the machine's, not the simulation's
  CLI::App app(
      "Simulates jobs of HAM: one for each seed, whose threads run one at a time in an order that the seed decides.");
  plan what;
  std::uint64_t first = 0;
  std::uint64_t seeds = 1000;
  std::uint64_t one_seed = 0;
  unsigned jobs = 2;
  task how;
  bool no_shrinking = false;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::vector<std::string> without;
  std::vector<std::string> kinds;
  std::vector<std::string> only;
  std::string over = "any";
  std::string devices_of_nodes = "any";
  std::string supervised_nodes = "any";
  std::string verbs_taken = "any";
  CLI::Option* const single = app.add_option("--seed", one_seed, "simulate this one, and print every step");
  app.add_option("--first", first, "the first seed")->capture_default_str();
  app.add_option("--seeds", seeds, "how many seeds")->capture_default_str();
  app.add_option("--jobs", jobs, "processes that work through them")->capture_default_str()->check(CLI::Range(1, 256));
  app.add_option("--steps", what.steps, "steps of the host's threads together")->capture_default_str();
  app.add_option("--nodes", what.nodes, "nodes of each job, host included; 0: 2 to 8, as the seed decides");
  app.add_option("--medium", over, "what connects the nodes: sim, islands, loopback; any: as the seed decides");
  app.add_option("--devices", devices_of_nodes,
                 "whether nodes have emulated devices: some, none; any: as the seed decides")
      ->check(CLI::IsMember({"any", "some", "none"}));
  app.add_option("--supervised", supervised_nodes,
                 "whether targets are started again when they die: some, none; any: as the seed decides")
      ->check(CLI::IsMember({"any", "some", "none"}));
  app.add_option("--verbs", verbs_taken,
                 "whether all kinds of steps are taken, or only the first ones: all, first; any: as the seed decides")
      ->check(CLI::IsMember({"any", "all", "first"}));
  app.add_option("--schedule", what.schedule, "another order of events for the same steps");
  app.add_option("--without", without, "kinds of steps that do not happen")->delimiter(',');
  app.add_option("--kinds", kinds, "kinds of steps that happen; all others do not")->delimiter(',');
  app.add_option("--only", only, "steps that happen, as THREAD.STEP; all others do not")->delimiter(',');
  app.add_flag("--until-failure", how.until_failure, "stop at the first failure");
  app.add_flag("--twice", how.twice,
               "run every seed twice, the second time with switches by system calls: both must have the same trace");
  app.add_option(
         "--expect-failure", how.expected,
         "end well if a seed fails in this way, and badly if none does: what is printed behind the seed, or how it "
         "begins; may be given several times, and other failures do not count then")
      ->allow_extra_args(false);
  std::string recorded;
  app.add_option("--record", recorded,
                 "print what is observed of a protocol, as tests/models/protocols/trace.promela has it, for --seed");
  app.add_option("--at-most", max_seconds,
                 "end badly if it takes more seconds of processor time for each of --jobs processes");
  app.add_flag("--no-shrinking", no_shrinking, "show the first failure as it is");
#ifdef HAM_SIM_PLANTED
  std::string planted;
  app.add_option("--plant", planted, "the planted bug that is switched on; none: there is none");
#endif
  CLI11_PARSE(app, argc, argv);
  if (!kinds.empty()) what.without = ~step_set{0};
  const std::optional<step_set> named = set_of(kinds);
  const std::optional<step_set> left_out = set_of(without);
  if (!named || !left_out) return 2;
  what.without = (what.without & ~*named) | *left_out;
  for (const std::string& text : only) {
    int thread = 0;
    int number = 0;
    if (std::sscanf(text.c_str(), "%d.%d", &thread, &number) != 2) {
      std::fprintf(stderr, "ham_sim: --only: \"%s\" is not THREAD.STEP\n", text.c_str());
      return 2;
    }
    what.only.insert({thread, number});
  }
  unsigned number_of_medium = 0;
  while (number_of_medium < media_there_are && name_of(static_cast<medium>(number_of_medium)) != over)
    ++number_of_medium;
  if (number_of_medium == media_there_are) {
    std::fprintf(stderr, "ham_sim: --medium: there is no \"%s\"; there are: any sim islands loopback\n", over.c_str());
    return 2;
  }
  what.over = static_cast<medium>(number_of_medium);
  if (devices_of_nodes != "any") what.of_nodes = devices_of_nodes == "some" ? devices::some : devices::none;
  if (supervised_nodes != "any") what.numbers = supervised_nodes == "some" ? supervised::some : supervised::none;
  if (verbs_taken != "any") what.of_steps = verbs_taken == "all" ? verbs::all : verbs::first_ones;
#ifdef HAM_SIM_PLANTED
  const auto* const bug = std::find(std::begin(planted_names), std::end(planted_names), planted);
  if (!planted.empty() && planted != "none" && bug == std::end(planted_names)) {
    std::fprintf(stderr, "ham_sim: --plant: there is no bug \"%s\"; planted_bugs.py --list shows them\n",
                 planted.c_str());
    return 2;
  }
#endif
  if (!recorded.empty() && !can_record(recorded)) {
    std::fprintf(stderr, "ham_sim: --record: no protocol \"%s\" is recorded\n", recorded.c_str());
    return 2;
  }
  prepare_runs();
#ifdef HAM_SIM_PLANTED
  if (bug != std::end(planted_names)) ham_planted_bug = static_cast<int>(bug - planted_names) + 1;
#endif
  if (!recorded.empty()) {
    for (const auto& [who, seen] : record(recorded, one_seed)) std::printf("%d %d\n", who, seen);
    std::fflush(stdout);
    ::_exit(0);  // not all threads have ended
  }
  if (*single) {
    stay_on_core(0);
    what.seed = one_seed;
    return show(what);
  }
  const auto begin = std::chrono::steady_clock::now();
  auto& shared =
      *static_cast<board*>(::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  shared.next = first;
  how.end = first + seeds;
  std::vector<pid_t> workers;
  for (unsigned i = 0; i < jobs; ++i) {
    const pid_t worker = ::fork();
    if (worker == -1) {
      std::fprintf(stderr, "ham_sim: cannot start process %u (%s); allow more, or --jobs less\n", i,
                   std::strerror(errno));
      break;
    }
    workers.push_back(worker);
    if (worker != 0) continue;
    stay_on_core(i);
    work(shared, what, how);
    std::fflush(stdout);
    ::_exit(0);
  }
  bool all_ended_well = workers.size() == jobs;
  for (const pid_t worker : workers) {
    int status = -1;
    while (::waitpid(worker, &status, 0) == -1 && errno == EINTR) {
    }
    if (status == 0) continue;
    all_ended_well = false;
    std::fprintf(stderr, "ham_sim: a process that works through seeds has ended by %s %d, and its last seed is lost\n",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%llu seeds, %llu calls, %llu hand-overs, %.1f s, traces %016llx: %llu failed\n",
              static_cast<unsigned long long>(shared.simulated), static_cast<unsigned long long>(shared.calls),
              static_cast<unsigned long long>(shared.hand_overs), seconds, static_cast<unsigned long long>(shared.hash),
              static_cast<unsigned long long>(shared.failures));
  std::fflush(stdout);
  if (!all_ended_well) return 1;
  const bool in_time = ends_in_time(max_seconds, jobs);
  if (!how.expected.empty()) return shared.failures != 0 && in_time ? 0 : 1;
  if (shared.failures == 0) return shared.differing == 0 && in_time ? 0 : 1;
  plan smallest = what;
  smallest.seed = shared.failed_seed;
  stay_on_core(0);
  const auto say_replay = [&](const char* which) {
    std::string replay = std::string(argv[0]) + ' ' + options_of(smallest);
#ifdef HAM_SIM_PLANTED
    if (!planted.empty()) replay += " --plant " + planted;
#endif
    std::printf("%s: %s\n", which, replay.c_str());
    std::fflush(stdout);
  };
  if (!no_shrinking) {
    if (smallest.nodes == 0) smallest.nodes = nodes_of(smallest.seed);
    say_replay("as it is, before it is made small");
    smallest = shrink(smallest, run_once(smallest).kind());
  }
  say_replay("replay with");
  static_cast<void>(show(smallest));
  return 1;
}
