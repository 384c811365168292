// What the kernel has killed for want of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace ham::inline v1::base {

/// The number behind `name` in lines of "name number"; 0 if it is not there.
[[nodiscard]] std::uint64_t counter_in(const std::string& text, const std::string& name);

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

/// Of the control group of this process if there is one, else of the machine.
class memory_kills {
 public:
  memory_kills() : seen_(count()) {}
  /// Whether there were any since this was last asked, or made. One thread at a time.
  [[nodiscard]] bool any_more();

 private:
  [[nodiscard]] std::uint64_t count();

  kills_of_groups groups_;
  std::uint64_t seen_;
};

}  // namespace ham::base
