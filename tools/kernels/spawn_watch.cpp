// /proc tells which process waits where.
#include "spawn_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>

namespace ham::inline v1::kernels {
namespace {

using clock = std::chrono::steady_clock;

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string of_process(pid_t process, const char* file) {
  return content("/proc/" + std::to_string(process) + "/" + file);
}

struct process_state {
  bool living = true;  // or waits only for its parent to fetch its status
  pid_t parent = 0;
  unsigned long long ticks = 0;  // processor time
  unsigned long long start = 0;  // with the number, what no other process has
};

std::optional<process_state> state_of(pid_t process) {
  const std::string stat = of_process(process, "stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(stat.substr(name_end + 1));
  process_state result;
  std::string skipped;
  rest >> skipped >> result.parent;
  result.living = skipped != "Z" && skipped != "X";
  for (int field = 5; field < 14; ++field) rest >> skipped;
  unsigned long long user = 0;
  unsigned long long system = 0;
  rest >> user >> system;
  result.ticks = user + system;
  for (int field = 16; field < 22; ++field) rest >> skipped;
  rest >> result.start;
  return result;
}

/// The processes below `root`, without itself.
std::map<pid_t, process_state> descendants(pid_t root) {
  std::map<pid_t, process_state> all;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process <= 0) continue;
    if (const auto state = state_of(process)) all[process] = *state;
  }
  std::erase_if(all, [&](const auto& one) {
    pid_t at = one.first;
    for (std::size_t depth = 0; depth < all.size() && at > 1 && at != root; ++depth) {
      const auto above = all.find(at);
      at = above == all.end() ? 0 : above->second.parent;
    }
    return at != root || one.first == root;
  });
  return all;
}

/// Remembers since when processes have been in the state.
class lost_processes {
 public:
  /// One of the processes below the launcher that has been lost for so long; 0: none.
  [[nodiscard]] pid_t find(const std::map<pid_t, process_state>& below, std::chrono::milliseconds lost_after) {
    std::map<pid_t, entry> still;
    pid_t result = 0;
    for (const auto& [process, state] : below) {
      if (!waits_in_pmix_init(process)) continue;
      const auto before = waiting_.find(process);
      const bool same = before != waiting_.end() && before->second.ticks == state.ticks;
      const entry now = same ? before->second : entry{state.ticks, clock::now()};
      if (clock::now() - now.since >= lost_after) result = process;
      still[process] = now;
    }
    waiting_ = std::move(still);
    return result;
  }

 private:
  struct entry {
    unsigned long long ticks;
    clock::time_point since;
  };
  std::map<pid_t, entry> waiting_;
};

/// Either may be closed to us, by a security module or a kernel without names.
bool waits_in_futex(pid_t process) {
  return of_process(process, "syscall").starts_with(std::to_string(SYS_futex) + " ") ||
         of_process(process, "wchan").starts_with("futex");
}

/// Remembers since when a launcher has waited for a thread of its own although all that it has started has ended.
class idle_launcher {
 public:
  explicit idle_launcher(pid_t launcher) : launcher_(launcher) {}

  [[nodiscard]] bool has_hung(const std::map<pid_t, process_state>& below, std::chrono::milliseconds hung_after) {
    const auto now = state_of(launcher_);
    const bool living = std::any_of(below.begin(), below.end(), [](const auto& one) { return one.second.living; });
    has_started_ = has_started_ || !below.empty();
    if (!now || !now->living || living || !has_started_ || now->ticks != ticks_ || !waits_in_futex(launcher_)) {
      since_ = clock::now();
      ticks_ = now ? now->ticks : 0;
    }
    return clock::now() - since_ >= hung_after;
  }

 private:
  pid_t launcher_;
  bool has_started_ = false;
  unsigned long long ticks_ = 0;
  clock::time_point since_ = clock::now();
};

/// A launcher that runs; its standard output comes through `output` if that is wanted.
struct launched {
  pid_t pid = -1;
  int output = -1;
};

launched launch(const spawn_watch& what) {
  std::array<int, 2> ends{-1, -1};
  if (what.capture && ::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
  std::vector<char*> words;
  for (const std::string& word : what.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // a watch that is killed leaves no run behind
    if (what.capture) ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(words[0], words.data());
    std::fprintf(stderr, "cannot start %s: %s\n", words[0], std::generic_category().message(errno).c_str());
    ::_exit(127);
  }
  if (what.capture) ::close(ends[1]);
  return {pid, ends[0]};
}

/// Reads what is there; waits a little if nothing is.
void wait_a_little(launched& run, std::string& output) {
  constexpr int pause_ms = 20;
  if (run.output < 0) {
    ::poll(nullptr, 0, pause_ms);
    return;
  }
  pollfd waiting{run.output, POLLIN, 0};
  if (::poll(&waiting, 1, pause_ms) <= 0) return;
  std::array<char, 4096> text{};
  const ssize_t got = ::read(run.output, text.data(), text.size());
  if (got > 0) {
    output.append(text.data(), static_cast<std::size_t>(got));
  } else {
    ::close(run.output);
    run.output = -1;
  }
}

/// The status of a run that has ended; nothing while it goes on.
std::optional<int> ended(pid_t pid, int flags) {
  int status = 0;
  pid_t got = 0;
  while ((got = ::waitpid(pid, &status, flags)) < 0 && errno == EINTR) {
  }
  if (got == 0) return std::nullopt;
  if (got < 0) throw std::system_error(errno, std::generic_category(), "waitpid");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The launcher ends its processes; what it leaves is killed.
void end(const launched& run) {
  const auto below = descendants(run.pid);
  ::kill(run.pid, SIGTERM);
  const auto limit = clock::now() + std::chrono::seconds(5);
  bool gone = false;
  while (!(gone = ended(run.pid, WNOHANG).has_value()) && clock::now() < limit) ::poll(nullptr, 0, 20);
  for (const auto& [process, state] : below) {
    const auto now = state_of(process);
    if (now && now->start == state.start) ::kill(process, SIGKILL);
  }
  if (!gone) {
    ::kill(run.pid, SIGKILL);
    static_cast<void>(ended(run.pid, 0));
  }
}

}  // namespace

bool waits_in_pmix_init(pid_t process) {
  const std::string maps = of_process(process, "maps");
  const auto loaded = [&maps](const char* what) { return maps.find(what) != std::string::npos; };
  if (!loaded("/mca_pmix_") || loaded("/mca_state_") || loaded("/mca_errmgr_")) return false;
  return waits_in_futex(process);
}

spawn_result run_spawning(const spawn_watch& what) {
  spawn_result result;
  for (;;) {
    launched run = launch(what);
    lost_processes lost;
    idle_launcher idle(run.pid);
    result.output.clear();
    const auto pause = std::min({what.lost_after / 4, what.hung_after / 4, std::chrono::milliseconds(1000)});
    auto next_look = clock::now() + pause;
    pid_t found = 0;
    bool hung = false;
    std::optional<int> status;
    while (!(status = ended(run.pid, WNOHANG)) && found == 0 && !hung) {
      wait_a_little(run, result.output);
      if (clock::now() < next_look) continue;
      next_look = clock::now() + pause;
      const auto below = descendants(run.pid);
      if (result.repeated + 1 < what.max_runs) found = lost.find(below, what.lost_after);
      hung = idle.has_hung(below, what.hung_after);
    }
    if (!status && hung) {
      std::fprintf(stderr,
                   "%s hangs: all that it has started has ended %lld ms ago, which Open MPI 4.1 does now and then "
                   "when it has aborted a job (docs/mpix.md); it is ended\n",
                   what.command.front().c_str(), static_cast<long long>(what.hung_after.count()));
      status = 1;
      end(run);
    } else if (!status) {
      std::fprintf(
          stderr,
          "MPI_Comm_spawn hangs: process %d has waited in PMIx_Init for %lld ms, which Open MPI 4.1 does now and "
          "then (docs/mpix.md); the run is ended and repeated\n",
          static_cast<int>(found), static_cast<long long>(what.lost_after.count()));
      end(run);
    }
    const auto limit = clock::now() + std::chrono::seconds(2);
    while (run.output >= 0 && clock::now() < limit) wait_a_little(run, result.output);
    if (run.output >= 0) ::close(run.output);
    if (status) {
      result.status = *status;
      return result;
    }
    ++result.repeated;
  }
}

}  // namespace ham::kernels
