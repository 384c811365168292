// What ham-top shows: rates between two readings, sorted and filtered.
#pragma once

#include <ham/offload/counters.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ham::inline v1::top {

/// A node, and what it did between two readings. Negative: not known.
struct shown_node {
  node_counters counters;
  double calls_in_s = -1;  ///< calls per second that arrived
  double calls_out_s = -1;
  double bytes_in_s = -1;
  double bytes_out_s = -1;
  double p50_s = -1;  ///< of the calls that ended meanwhile, in seconds
  double p99_s = -1;
  double device_calls_s = -1;  ///< calls per second that its device has answered
};

struct shown_job {
  std::int64_t pid = -1;
  std::string program;
  double interval_s = 0;  ///< between the readings
  std::vector<shown_node> nodes;
};

/// Nodes that are new since `before` have no rates. A node that took messages meanwhile polls, also if that was not
/// seen in the moment of the reading.
[[nodiscard]] std::vector<shown_job> between(const std::vector<job_counters>& before,
                                             const std::vector<job_counters>& now);

/// Descending, but for the number of the node.
enum class sort_key : std::uint8_t { node, in, out, p50, p99, queue, outbox, bytes, rss, restarts };
/// By name: "p99".
[[nodiscard]] std::optional<sort_key> sort_key_of(const std::string& name);
[[nodiscard]] const std::vector<std::string>& sort_key_names();
[[nodiscard]] sort_key next(sort_key key) noexcept;

/// Empty: all are shown.
struct filter {
  std::vector<node_t> nodes;  ///< by the number that calls name
  std::string state;          ///< "busy"
  std::string machine;        ///< a part of its name
  bool gone = false;          ///< nodes that have gone, too
};

/// Takes out what is not to be shown, with jobs of which nothing is left, and sorts the nodes of each.
void arrange(std::vector<shown_job>& jobs, sort_key by, const filter& shown);

}  // namespace ham::top
