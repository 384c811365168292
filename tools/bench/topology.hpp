// What two logical CPUs share, from the kernel's files under /sys/devices/system/cpu; and choosing a pair by that.
#pragma once

#include "affinity.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::bench {

/// The nearest thing that two logical CPUs have in common.
enum class pair_kind { one_cpu, siblings, same_l2, same_l3, other_l3, other_socket, unknown };

/// For readers: "siblings of one core".
[[nodiscard]] const char* description_of(pair_kind kind) noexcept;

/// For the command line: "siblings", "same-l2", "same-l3", "other-l3", "other-socket"; empty for the other two.
[[nodiscard]] std::string_view option_of(pair_kind kind) noexcept;

/// Cores, caches and sockets of some logical CPUs.
class topology {
 public:
  /// What the kernel does not tell of a CPU stays unknown.
  explicit topology(std::vector<int> cpus, const std::string& folder = "/sys/devices/system/cpu");

  [[nodiscard]] pair_kind kind_of(int one, int other) const;
  [[nodiscard]] pair_kind kind_of(const core_pair& cores) const { return kind_of(cores.host, cores.target); }

  /// The first pair of that kind, in ascending order.
  [[nodiscard]] std::optional<core_pair> find(pair_kind kind) const;

  /// The kinds that some pair of different CPUs is of.
  [[nodiscard]] std::vector<pair_kind> kinds() const;

  /// The pair to measure with if nobody asks for another one, as benchmarks/peers/cores.py chooses it: not siblings if
  /// there are others. Where there is one CPU only, that twice; there must be one.
  [[nodiscard]] core_pair best() const;

  /// The pair that `text` asks for: "HOST,TARGET" or a kind. Throws std::invalid_argument, which names the kinds that
  /// there are.
  [[nodiscard]] core_pair choose(const std::string& text) const;

 private:
  struct place {
    std::vector<int> siblings, l2, l3;
    int socket = -1;
  };
  [[nodiscard]] std::string all_kinds() const;

  std::vector<int> cpus_;
  std::map<int, place> places_;
};

/// The numbers of a kernel's list such as "0-3,8,10-11"; what cannot be read ends it.
[[nodiscard]] std::vector<int> read_cpu_list(std::string_view text);

}  // namespace ham::bench
