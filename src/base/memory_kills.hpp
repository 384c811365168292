// What the kernel has killed for want of memory in several control groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace ham::inline v1::base {

/// For version 1 of control groups, in which a group does not count what is killed in the groups below it. Groups come
/// and go, so each has a count of its own. One thread at a time.
class kills_of_groups {
 public:
  /// How many groups are looked into: each costs a file that is opened and read.
  static constexpr std::size_t max_groups = 64;

  /// A number that grows by what was killed in `group`, a folder, and below since the last call. Of a group that has
  /// come since then all counts. With more than `max_groups`, only what `group` itself counts.
  [[nodiscard]] std::uint64_t read(const std::string& group);

 private:
  std::string group_;                          ///< of the last call
  std::map<std::string, std::uint64_t> seen_;  ///< of those that are there
  bool seen_all_ = true;
  std::uint64_t kills_ = 0;
};

}  // namespace ham::base
