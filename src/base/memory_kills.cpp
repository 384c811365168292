#include "base/memory_kills.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

namespace ham::inline v1::base {
namespace {

std::optional<std::string> content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct reading {
  std::map<std::string, std::uint64_t> counts;
  bool all = true;
};

/// A group that goes meanwhile is left out.
reading counts_in(const std::string& group) {
  reading result;
  auto& counts = result.counts;
  const auto add = [&counts](const std::filesystem::path& folder) {
    if (const auto text = content_of(folder / "memory.oom_control"))
      counts[folder.string()] = counter_in(*text, "oom_kill");
  };
  add(group);
  std::error_code failure;
  std::filesystem::recursive_directory_iterator below(group, std::filesystem::directory_options::skip_permission_denied,
                                                      failure);
  for (; !failure && below != std::filesystem::recursive_directory_iterator(); below.increment(failure)) {
    if (std::error_code gone; !below->is_directory(gone)) continue;
    add(below->path());
    if (counts.size() <= kills_of_groups::max_groups) continue;
    result.all = false;
    std::erase_if(counts, [&group](const auto& one) { return one.first != group; });
    break;
  }
  if (failure) result.all = false;  // a folder has gone meanwhile: what lies behind it was not seen
  return result;
}

}  // namespace

std::uint64_t counter_in(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string word; lines >> word;) {
    std::uint64_t number = 0;
    if (!(lines >> number)) {
      lines.clear();
      continue;
    }
    if (word == name) return number;
  }
  return 0;
}

std::uint64_t kills_of_groups::read(const std::string& group) {
  reading now = counts_in(group);
  const bool moved = !group_.empty() && group != group_;
  group_ = group;
  if (moved) {  // what was killed there before is no news
    seen_ = std::move(now.counts);
    seen_all_ = now.all;
    return kills_;
  }
  for (const auto& [name, count] : now.counts) {
    const auto before = seen_.find(name);
    if (before == seen_.end())
      kills_ += seen_all_ ? count : 0;
    else  // a smaller count is that of another group of the same name
      kills_ += before->second <= count ? count - before->second : count;
  }
  seen_ = std::move(now.counts);
  seen_all_ = now.all;
  return kills_;
}

std::uint64_t memory_kills::count() {
  const std::string groups = content_of("/proc/self/cgroup").value_or("");
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      if (const auto text = content_of("/sys/fs/cgroup" + path + "/memory.events"))
        return counter_in(*text, "oom_kill");
    }
    if (controllers != "memory") continue;
    const std::string group = "/sys/fs/cgroup/memory" + path;
    if (::access((group + "/memory.oom_control").c_str(), R_OK) != 0) continue;
    return groups_.read(group);
  }
  return counter_in(content_of("/proc/vmstat").value_or(""), "oom_kill");
}

bool memory_kills::any_more() {
  const std::uint64_t now = count();
  return std::exchange(seen_, now) < now;
}

}  // namespace ham::base
