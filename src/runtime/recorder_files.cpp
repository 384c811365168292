// They have no names: processes that have them open show them in /proc.
#include "runtime/recorder_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/numbers.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::detail {
namespace {

namespace fs = std::filesystem;

bool has_name_of(const fs::path& link, std::span<const std::string_view> names) {
  constexpr std::string_view prefix = "/memfd:";
  std::error_code gone;
  const std::string target = fs::read_symlink(link, gone).string();
  return !gone && target.starts_with(prefix) && std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return std::string_view(target).substr(prefix.size()).starts_with(name);
  });
}

/// Without a name, so that it is what it says.
bool is_memory_file(int fd, struct stat& about) {
  return ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0 && about.st_size > 0;
}

}  // namespace

recorder_files find_memory_files(std::span<const std::string_view> names,
                                 const std::function<void(file_id, int, std::uint64_t)>& found) {
  recorder_files result;
  std::set<file_id> known;
  std::error_code problem;
  for (fs::directory_iterator process("/proc", problem), end; !problem && process != end; process.increment(problem)) {
    const auto pid = base::parse_integer(process->path().filename().string(), 1, INT32_MAX);
    if (!pid) continue;
    std::error_code refusal;
    fs::directory_iterator file(process->path() / "fd", refusal);
    result.refused = result.refused || refusal == std::errc::permission_denied;
    for (; !refusal && file != end; file.increment(refusal)) {
      if (!has_name_of(file->path(), names)) continue;
      const base::unique_fd fd(::open(file->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
      struct stat about {};
      if (!fd || !is_memory_file(fd.get(), about)) continue;
      const file_id id{about.st_dev, about.st_ino};
      result.of[static_cast<pid_t>(*pid)].insert(id);
      if (known.insert(id).second) found(id, fd.get(), static_cast<std::uint64_t>(about.st_size));
    }
  }
  return result;
}

recorder_files find_recorder_files(const std::function<void(file_id, int, std::uint64_t)>& found) {
  constexpr std::array<std::string_view, 2> names{"ham-job", "ham-recorder"};
  return find_memory_files(names, found);
}

std::set<pid_t> related_to(const std::set<pid_t>& of, const recorder_files& files) {
  std::set<pid_t> related = of;
  std::set<file_id> theirs;
  for (bool more = true; more;) {
    more = false;
    for (const pid_t pid : related) {
      if (const auto found = files.of.find(pid); found != files.of.end())
        theirs.insert(found->second.begin(), found->second.end());
    }
    for (const auto& [pid, open] : files.of) {
      const bool shares = std::any_of(open.begin(), open.end(), [&](const file_id& id) { return theirs.contains(id); });
      if (shares) more = related.insert(pid).second || more;
    }
  }
  return related;
}

}  // namespace ham::detail
