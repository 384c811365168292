// One process per run.
#include "sim/runs.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

#include "sim/stacks.hpp"

namespace ham::inline v1::sim {
namespace {

// A run that takes longer hangs. Beside other programs it may have to wait long for a core; but the tests, which have
// 600 s and more, are to say which seed it is.
constexpr rlim_t cpu_seconds = 120;
constexpr unsigned real_seconds = 400;

// Of a failure. A run that hangs takes long.
constexpr std::chrono::seconds max_shrinking{300};

constexpr std::size_t idle_threads = 160;  // most runs need fewer

/// What a run leaves behind, for the process that has started it.
class leavings {
 public:
  leavings()
      : words_(::memfd_create("words", MFD_CLOEXEC)),
        shared_(::mmap(nullptr, sizeof(results), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~leavings() {
    ::munmap(shared_, sizeof(results));
    ::close(words_);
  }
  leavings(const leavings&) = delete;
  leavings& operator=(const leavings&) = delete;

  struct results {
    bool complete = false;
    outcome result;
  };
  [[nodiscard]] results& numbers() const noexcept { return *static_cast<results*>(shared_); }
  [[nodiscard]] int words() const noexcept { return words_; }
  /// What was written on stderr.
  [[nodiscard]] std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(words_, 0, SEEK_END)), '\0');
    const ssize_t got = ::pread(words_, text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  /// Before the next run.
  void clear() const {
    numbers() = {};
    static_cast<void>(!::ftruncate(words_, 0));
    ::lseek(words_, 0, SEEK_SET);
  }

 private:
  int words_;
  void* shared_;
};

[[noreturn]] void be_the_run(const plan& what, const leavings& to) {
  ::dup2(to.words(), STDERR_FILENO);
  const rlimit limit{cpu_seconds, cpu_seconds + 10};
  ::setrlimit(RLIMIT_CPU, &limit);
  ::alarm(real_seconds);
  to.numbers().result = simulate(what);
  to.numbers().complete = true;
  ::_exit(0);
}

/// That of a signal which has ended a run.
std::string meaning_of(int signal) {
  if (signal == SIGXCPU) return "it hangs";
  if (signal != SIGALRM) return std::string("it crashes: ") + ::strsignal(signal);
  return "it has not ended after " + std::to_string(real_seconds) + " s of the clock, in which it may have had no core";
}

}  // namespace

std::string run::kind() const {
  const std::size_t begin = said.find("FAILED after ");
  if (begin == std::string::npos) return said.substr(0, said.find('\n'));
  const std::size_t colon = said.find(": ", begin);
  std::string line = said.substr(colon + 2, said.find('\n', colon) - colon - 2);
  std::erase_if(line, [](unsigned char c) { return std::isdigit(c) != 0; });
  return line;
}

void prepare_runs() {
  plan first;
  first.nodes = 2;
  first.over = medium::sim;
  first.steps = 20;
  first.of_nodes = devices::none;
  first.numbers = supervised::none;
  first.of_steps = verbs::first_ones;
  first.without = set_of(step::kill) | set_of(step::cut) | set_of(step::kill_host);
  static_cast<void>(simulate(first));
  make_idle_threads(idle_threads);
}

run run_once(const plan& what) {
  run result;
  static const leavings left;
  left.clear();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) be_the_run(what, left);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.said = left.text();
  result.failed = status != 0 || !left.numbers().complete;
  if (!result.failed) result.result = left.numbers().result;
  if (WIFSIGNALED(status)) {
    result.said = "FAILED after a while: " + meaning_of(WTERMSIG(status)) + "\n" + result.said;
  }
  // All nodes obey the rules: none may find that another has broken them.
  constexpr const char* accusation = "the connection was closed because it sent";
  if (const std::size_t at = result.said.find(accusation); !result.failed && at != std::string::npos) {
    result.failed = true;
    result.said = "FAILED after a while: a node finds that another breaks the rules: " +
                  result.said.substr(at, result.said.find('\n', at) - at) + "\n" + result.said;
  }
  return result;
}

/// Those that a run with its steps printed has taken.
[[nodiscard]] static std::vector<step_place> steps_of(plan what) {
  what.verbose = true;
  std::vector<step_place> taken;
  std::istringstream lines(run_once(what).said);
  for (std::string line; std::getline(lines, line);) {
    int thread = 0;
    int number = 0;
    if (std::sscanf(line.c_str(), "%*f thread %d, step %d:", &thread, &number) == 2) taken.emplace_back(thread, number);
  }
  return taken;
}

plan shrink(const plan& what, const std::string& kind) {
  constexpr std::uint64_t schedules = 8;
  constexpr int max_runs = 1500;
  const auto end = std::chrono::steady_clock::now() + max_shrinking;
  plan best = what;
  int runs = 0;
  const auto goes_on = [&] { return runs < max_runs && std::chrono::steady_clock::now() < end; };
  const auto fails = [&](plan candidate) {
    for (std::uint64_t i = 0; i < schedules && goes_on(); ++i, ++runs) {
      candidate.schedule = best.schedule + i;
      const run tried = run_once(candidate);
      if (!tried.failed || tried.kind() != kind) continue;
      best = candidate;
      return true;
    }
    return false;
  };
  for (bool smaller = true; smaller && goes_on();) {
    smaller = false;
    for (int nodes = 2; nodes < best.nodes; ++nodes) {
      plan fewer = best;
      fewer.nodes = nodes;
      if (!fails(fewer)) continue;
      smaller = true;
      break;
    }
    for (const int part : {4, 2, 1}) {  // of quarters that stay
      plan shorter = best;
      shorter.steps = part == 1 ? best.steps * 3 / 4 : best.steps / part;
      if (shorter.steps < best.steps && shorter.steps > 0 && fails(shorter)) smaller = true;
    }
    if (has_devices(best)) {
      plan plainer = best;
      plainer.of_nodes = devices::none;
      if (fails(plainer)) smaller = true;
    }
    if (is_supervised(best)) {
      plan plainer = best;
      plainer.numbers = supervised::none;
      if (fails(plainer)) smaller = true;
    }
    if (has_all_verbs(best)) {
      plan plainer = best;
      plainer.of_steps = verbs::first_ones;
      if (fails(plainer)) smaller = true;
    }
    for (unsigned kind_of_step = 0; kind_of_step < steps_there_are; ++kind_of_step) {
      plan plainer = best;
      plainer.without |= set_of(static_cast<step>(kind_of_step));
      if (plainer.without != best.without && fails(plainer)) smaller = true;
    }
  }
  // Steps one by one: ever smaller parts of them are left out.
  std::vector<step_place> steps = steps_of(best);
  for (std::size_t part = (steps.size() + 1) / 2; part != 0 && !steps.empty(); part = part == 1 ? 0 : (part + 1) / 2) {
    for (std::size_t begin = 0; begin < steps.size();) {
      plan fewer = best;
      const std::size_t end = std::min(steps.size(), begin + part);
      fewer.only = {steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(begin)};
      fewer.only.insert(steps.begin() + static_cast<std::ptrdiff_t>(end), steps.end());
      if (!fewer.only.empty() && fails(fewer))
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(begin),
                    steps.begin() + static_cast<std::ptrdiff_t>(end));
      else
        begin = end;
    }
  }
  return best;
}

std::string options_of(const plan& what) {
  std::string text = "--seed " + std::to_string(what.seed);
  if (what.over != medium::as_the_seed_says) text += " --medium " + std::string(name_of(what.over));
  if (what.of_nodes != devices::as_the_seed_says)
    text += what.of_nodes == devices::none ? " --devices none" : " --devices some";
  if (what.numbers != supervised::as_the_seed_says)
    text += what.numbers == supervised::none ? " --supervised none" : " --supervised some";
  if (what.of_steps != verbs::as_the_seed_says) text += what.of_steps == verbs::all ? " --verbs all" : " --verbs first";
  if (what.schedule != 0) text += " --schedule " + std::to_string(what.schedule);
  text += " --nodes " + std::to_string(what.nodes) + " --steps " + std::to_string(what.steps);
  std::string without;
  for (unsigned i = 0; i < steps_there_are; ++i) {
    if (what.has(static_cast<step>(i))) continue;
    without += without.empty() ? " --without " : ",";
    without += name_of(static_cast<step>(i));
  }
  std::string only;
  for (const auto& [thread, number] : what.only) {
    only += only.empty() ? " --only " : ",";
    only += std::to_string(thread) + "." + std::to_string(number);
  }
  return text + without + only;
}

}  // namespace ham::sim
