// The files of this machine's processes in which flight recorders may be.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace ham::inline v1::detail {

using file_id = std::pair<dev_t, ino_t>;

/// Which process has which of them open.
struct recorder_files {
  std::map<pid_t, std::set<file_id>> of;
  bool refused = false;  ///< there are processes whose files are not shown
};

/// Looks at all processes for memory files whose names begin so. A process with several has each of them once.
[[nodiscard]] recorder_files find_memory_files(std::span<const std::string_view> names,
                                               const std::function<void(file_id, int, std::uint64_t bytes)>& found);
/// Those with flight recorders. Looks at all processes, and calls `found` once for each file, with a descriptor that is
/// closed afterwards.
[[nodiscard]] recorder_files find_recorder_files(const std::function<void(file_id, int, std::uint64_t bytes)>& found);

/// `of`, and the processes that have a file in common with it, or with one that has, and so on.
[[nodiscard]] std::set<pid_t> related_to(const std::set<pid_t>& of, const recorder_files& files);

}  // namespace ham::detail
