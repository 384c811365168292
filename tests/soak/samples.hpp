// What a process holds, as the kernel counts it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace soak {

struct sample {
  std::uint64_t rss_kb = 0;
  std::uint64_t pss_kb = 0;  ///< its share of what several processes map
  std::uint64_t private_kb = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t maps = 0;
  std::uint64_t threads = 0;
  std::uint64_t heap_kb = 0;  ///< what the process has got from malloc and not given back; 0: not known
};

/// Nothing if there is no such process, or it is another user's.
[[nodiscard]] std::optional<sample> sample_of(std::int64_t pid);
[[nodiscard]] std::string to_json(const sample& one);
/// The letter of its state, and where in the kernel its threads wait, for people.
[[nodiscard]] std::string describe_process(std::int64_t pid);

}  // namespace soak
