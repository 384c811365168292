// A control group that limits the memory of processes of a test.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support.hpp"

namespace ham::inline v1::test {

/// Of version 1, below the group of this process, or else of version 2, below that of all. Removed with this object,
/// with the processes that are left in it.
class memory_group {
 public:
  explicit memory_group(std::size_t limit_bytes) {
    static int groups = 0;
    const std::string name = "ham-test-" + std::to_string(::getpid()) + "-" + std::to_string(++groups);
    is_version_1_ = std::filesystem::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    const std::filesystem::path inside = is_version_1_ ? own_group_of_version_1() : "/sys/fs/cgroup";
    std::error_code failure;
    if (!std::filesystem::create_directory(inside / name, failure)) {
      why_not_ = "no control group can be made in " + inside.string() + " (" + failure.message() + ")";
      return;
    }
    path_ = inside / name;
    const std::string limit = std::to_string(limit_bytes);
    if (!std::filesystem::exists(path_ / limit_file()))
      why_not_ = "control groups in " + inside.string() + " do not limit memory";
    else if (!write(limit_file(), limit) || !forbid_swap(limit))
      why_not_ = "the limits of control groups in " + inside.string() + " cannot be written";
  }
  memory_group(const memory_group&) = delete;
  memory_group& operator=(const memory_group&) = delete;
  ~memory_group() {
    if (path_.empty()) return;
    std::error_code failure;
    const bool removed = eventually(
        [&] {
          std::ifstream left(path_ / "cgroup.procs");
          for (pid_t pid = 0; left >> pid;) {
            if (pid > 0) ::kill(pid, SIGKILL);  // 0: of another namespace
          }
          return std::filesystem::remove(path_, failure);
        },
        10s);
    EXPECT_TRUE(removed) << path_ << " is left: " << failure.message();
  }

  /// Why there is none, or none that limits anything; empty: there is one.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// In version 2 a group with processes has no groups below it that limit memory.
  [[nodiscard]] bool is_version_1() const { return is_version_1_; }
  [[nodiscard]] std::string path() const { return path_.string(); }
  /// The calling process belongs to it from now on.
  [[nodiscard]] bool enter() const { return enter(path()); }
  /// Processes of the group that the kernel has killed for want of memory; -1 where it does not count them.
  [[nodiscard]] int kills() const {
    std::ifstream file(path_ / (is_version_1_ ? "memory.oom_control" : "memory.events"));
    std::string name;
    for (int count = 0; file >> name >> count;) {
      if (name == "oom_kill") return count;
    }
    return -1;
  }
  [[nodiscard]] static bool enter(const std::string& path) {
    return write_file(path + "/cgroup.procs", std::to_string(::getpid()));
  }

 private:
  static bool write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    return static_cast<bool>(file);
  }
  [[nodiscard]] bool write(const char* name, const std::string& text) const { return write_file(path_ / name, text); }
  [[nodiscard]] const char* limit_file() const { return is_version_1_ ? "memory.limit_in_bytes" : "memory.max"; }
  /// With it the limit would be reached late, or not at all. Kernels that do not count swap have no such file.
  [[nodiscard]] bool forbid_swap(const std::string& limit) const {
    const char* const name = is_version_1_ ? "memory.memsw.limit_in_bytes" : "memory.swap.max";
    if (std::filesystem::exists(path_ / name)) return write(name, is_version_1_ ? limit : "0");
    std::ifstream swaps("/proc/swaps");
    std::string head, swap;
    return !std::getline(swaps, head) || !std::getline(swaps, swap);
  }
  static std::filesystem::path own_group_of_version_1() {
    const std::string root = "/sys/fs/cgroup/memory";
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const std::size_t controllers = line.find(":memory:");
      if (controllers == std::string::npos) continue;
      const std::string own = root + line.substr(line.find('/', controllers));
      if (std::filesystem::exists(own + "/memory.limit_in_bytes")) return own;
    }
    return root;  // of a container that does not see where it is
  }

  bool is_version_1_ = false;
  std::filesystem::path path_;
  std::string why_not_;
};

}  // namespace ham::test
