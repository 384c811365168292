// Reads traces of Perfetto, as far as ham-trace needs them: tracks, slices with their arrows, moments and counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ham::inline v1::trace {

struct shown_track {
  std::string name;
  std::uint64_t parent = 0;  ///< 0: none
  std::int64_t pid = -1;     ///< of a process, or of a thread's process
  bool is_process = false;
  bool is_counter = false;
  std::string unit;
};

struct shown_slice {
  std::uint64_t track = 0;
  std::uint32_t name = 0;      ///< among shown_trace::texts
  std::uint32_t category = 0;  ///< the same
  std::uint32_t depth = 0;     ///< how many slices of its track it is in
  std::uint32_t outer = none;  ///< the one around it, among shown_trace::slices
  std::int64_t begin = 0;      ///< nanoseconds
  std::int64_t end = 0;        ///< the same for a moment
  std::uint64_t flow_out = 0;  ///< the number of an arrow that begins here, 0: none
  std::uint64_t flow_in = 0;
  static constexpr std::uint32_t none = 0xffffffff;
};

struct shown_trace {
  std::map<std::uint64_t, shown_track> tracks;
  std::vector<shown_slice> slices;                                                 ///< by track and time
  std::map<std::uint64_t, std::vector<std::pair<std::int64_t, double>>> counters;  ///< by track
  std::vector<std::string> texts;
  /// What moments of the category "trace" say, as "node 1: ...: clock offset (offset_ns 12, bound_ns 300)".
  std::vector<std::string> remarks;

  [[nodiscard]] const std::string& text(std::uint32_t number) const { return texts.at(number); }
};

/// Packets of types that ham-trace does not know are left out. Throws std::runtime_error if the bytes are no trace.
[[nodiscard]] shown_trace read_pftrace(std::string_view bytes);

}  // namespace ham::trace
