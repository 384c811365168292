// Machines and how many targets each gets, as written after --hosts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::run {

struct machine {
  std::string name;  ///< as ssh or Slurm know it, possibly USER@NAME; an IPv6 address without its brackets
  std::size_t count = 1;

  [[nodiscard]] bool is_this_one() const { return name == "localhost"; }
  bool operator==(const machine&) const = default;
};

inline constexpr std::size_t max_targets = 4000;

/// Reads "NAME[:COUNT]"; an IPv6 address is written in brackets if a count follows. Throws problem.
[[nodiscard]] machine parse_machine(std::string_view text);

/// Reads "a,b:2". Throws problem.
[[nodiscard]] std::vector<machine> parse_machines(std::string_view text);

/// Reads a whole number from `low` to `high`; -1 if `text` is something else.
[[nodiscard]] long parse_number(std::string_view text, long low, long high);

}  // namespace ham::run
