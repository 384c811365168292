#include "base/memory_kills.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/process_end.hpp"

namespace ham::inline v1::base {
namespace {

struct reading {
  std::map<std::string, std::uint64_t> counts;
  bool all = true;
};

/// A group that goes meanwhile is left out.
reading counts_in(const std::string& group) {
  reading result;
  auto& counts = result.counts;
  const auto add = [&counts](const std::filesystem::path& folder) {
    std::ifstream file(folder / "memory.oom_control");
    if (!file) return;
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    counts[folder.string()] = counter_in(text, "oom_kill");
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

}  // namespace ham::base
