// What the multi-process tests share: scenarios that run in a host process of their own, and a look at what is left.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "ham/offload.hpp"

namespace ham::inline v1::test {

using namespace std::chrono_literals;

[[nodiscard]] inline runtime_options nodes(const std::string& text) {
  runtime_options options;
  options.nodes = text;
  return options;
}

/// Number of rounds of a loop: `normal`, or HAM_TEST_ROUNDS.
[[nodiscard]] inline int rounds(int normal) {
  const char* const text = std::getenv("HAM_TEST_ROUNDS");
  return text == nullptr ? normal : std::clamp(std::atoi(text), 1, 1000);
}

[[nodiscard]] inline bool sanitized() {
#ifdef HAM_TEST_SANITIZED
  return true;
#else
  return false;
#endif
}

/// Waits until `done` or the time is over; says which.
template <class Done>
[[nodiscard]] bool eventually(Done done, std::chrono::milliseconds timeout = 20s) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(200us);
  }
  return true;
}

/// Code that runs as host in a process of its own; its result is the exit status.
struct scenario {
  using body = int (*)();
  scenario(const char* name, body what) { all()[name] = what; }
  static std::map<std::string, body>& all() {
    static std::map<std::string, body> table;
    return table;
  }
};

/// The beginning of main: the scenario that this process was started for, or the tests.
inline int run(int argc, char** argv) {
  if (const char* const name = std::getenv("HAM_TEST_SCENARIO")) return scenario::all().at(name)();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

/// A process that runs a scenario, its output caught. The orphans it leaves become children of this process.
class host_process {
 public:
  explicit host_process(const std::string& scenario_name, const std::vector<std::string>& environment = {},
                        const std::vector<std::string>& arguments = {}) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    int out[2];
    if (::pipe2(out, O_CLOEXEC) != 0) throw error("no pipe");
    // All memory is taken before fork(): in the child, a sanitizer's allocator may stay locked for ever.
    std::vector<std::string> settings{"HAM_TEST_SCENARIO=" + scenario_name};
    settings.insert(settings.end(), environment.begin(), environment.end());
    const std::vector<std::string> variables = base::environment_with(settings);
    std::vector<std::string> words{"/proc/self/exe"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::vector<char*> command = base::pointers(words);
    const std::vector<char*> environment_there = base::pointers(variables);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(out[1], STDERR_FILENO);
      ::execve("/proc/self/exe", command.data(), environment_there.data());
      ::_exit(126);
    }
    ::close(out[1]);
    out_ = out[0];
  }
  host_process(const host_process&) = delete;
  host_process& operator=(const host_process&) = delete;
  ~host_process() {
    if (!ended_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// The next line of its output; empty at the end of it, or after `timeout`.
  [[nodiscard]] std::string line(std::chrono::milliseconds timeout = 30s) {
    for (;;) {
      if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
        std::string result = text_.substr(0, end);
        text_.erase(0, end + 1);
        return result;
      }
      if (!read_more(timeout)) return std::exchange(text_, {});
    }
  }

  /// All further output, until every process that holds it has ended.
  [[nodiscard]] std::string rest() {
    while (read_more(60s)) {
    }
    return std::exchange(text_, {});
  }

  /// Its wait status.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ended_ = true;
    return status;
  }

 private:
  bool read_more(std::chrono::milliseconds timeout) {
    pollfd waiting{out_, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(timeout.count())) <= 0) return false;
    char buffer[1 << 16];
    const ssize_t got = ::read(out_, buffer, sizeof buffer);
    if (got <= 0) return false;
    text_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  bool ended_ = false;
  std::string text_;
};

/// All that a scenario prints with one target; it must end well.
[[nodiscard]] inline std::string output_of(const char* scenario_name) {
  host_process host(scenario_name, {"HAM_NODES=shm:1"});
  std::string text = host.rest();
  EXPECT_EQ(host.wait(), 0) << text;
  return text;
}

/// True if the process runs. A dead child of this process is reaped, so that it does not count as alive.
[[nodiscard]] inline bool alive(pid_t pid) {
  ::waitpid(pid, nullptr, WNOHANG);
  return ::kill(pid, 0) == 0;
}

[[nodiscard]] inline std::vector<pid_t> parse_pids(const std::string& line) {
  std::vector<pid_t> result;
  std::size_t at = 0;
  while ((at = line.find_first_of("0123456789", at)) != std::string::npos) {
    std::size_t length = 0;
    result.push_back(static_cast<pid_t>(std::stol(line.substr(at), &length)));
    at += length;
  }
  return result;
}

/// Process ids of all targets of the current runtime.
[[nodiscard]] inline std::vector<pid_t> target_pids() {
  std::vector<pid_t> result;
  for (std::size_t node = 1; node < offload::num_nodes(); ++node) {
    result.push_back(static_cast<pid_t>(offload::get_node_descriptor(static_cast<node_t>(node)).pid()));
  }
  return result;
}

/// A scenario tells the test which targets there are.
inline void print_target_pids() {
  std::string line = "targets";
  for (const pid_t pid : target_pids()) line += " " + std::to_string(pid);
  line += "\n";
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
}

/// Children of this process, dead ones not counted.
[[nodiscard]] inline std::set<pid_t> children() {
  std::set<pid_t> result;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (pid_t pid = 0; file >> pid;) result.insert(pid);
  }
  std::erase_if(result, [](pid_t pid) { return !alive(pid); });
  return result;
}

[[nodiscard]] inline std::size_t open_files() {
  const auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Names in the places where shared memory, sockets and temporary files would be.
[[nodiscard]] inline std::set<std::string> traces() {
  std::set<std::string> result;
  for (const char* place : {"/dev/shm", "/tmp", "/run", "/var/tmp", "/dev/mqueue"}) {
    std::error_code ignored;
    for (const auto& one : std::filesystem::directory_iterator(place, ignored)) {
      const std::string name = one.path().filename();
      // Other programs work there meanwhile, also MPIs; the library's names in /tmp would say so.
      const bool of_an_mpi = name.starts_with("vader_segment.") || name.starts_with("mpich_shm_");
      const bool shared_memory = std::string_view(place) == "/dev/shm" && !of_an_mpi;
      if (shared_memory || name.find("ham") != std::string::npos) result.insert(one.path());
    }
  }
  return result;
}

/// The p-quantile of a series, which gets sorted.
[[nodiscard]] inline double quantile(std::vector<double>& values, double p) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

}  // namespace ham::test
