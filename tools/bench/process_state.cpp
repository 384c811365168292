// State of processes, by way of /proc and the clocks of processes.
#include "process_state.hpp"

#include <sched.h>
#include <spawn.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

namespace ham::inline v1::bench {

std::int64_t cpu_time_ns(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
    throw std::runtime_error("no processor time of process " + std::to_string(pid) + " (it is gone)");
  }
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

std::optional<std::int64_t> private_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  if (!file) return std::nullopt;
  std::int64_t sum = 0;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Private_")) continue;
    std::istringstream fields(line.substr(line.find(':') + 1));
    std::int64_t kibibytes = 0;
    if (fields >> kibibytes) {
      sum += kibibytes * 1024;
      found = true;
    }
  }
  if (!found) return std::nullopt;
  return sum;
}

bool is_asleep(pid_t pid) {
  std::error_code failure;
  bool any = false;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", failure)) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos || name_end + 2 >= line.size()) continue;
    if (line[name_end + 2] != 'S') return false;
    any = true;
  }
  return any;
}

bool wait_until_asleep(pid_t pid, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!is_asleep(pid)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

void pin_process(pid_t pid, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    const auto thread = static_cast<pid_t>(std::stol(task.path().filename().string()));
    if (sched_setaffinity(thread, sizeof set, &set) != 0 && errno != ESRCH) {
      throw std::system_error(errno, std::generic_category(), "cannot pin another process");
    }
  }
}

pid_t spawn_self(const std::vector<std::string>& arguments, int fd_as_three) {
  std::string program = "ham-bench";
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv{program.data()};
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (fd_as_three >= 0) posix_spawn_file_actions_adddup2(&actions, fd_as_three, 3);
  pid_t pid = -1;
  const int failure = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw std::system_error(failure, std::generic_category(), "cannot start a second process for the floors");
  return pid;
}

}  // namespace ham::bench
