// Which nodes' counters belong together: from what each node has counted to the jobs that they make.
#pragma once

#include <cstdint>
#include <vector>

#include "base/counter_reading.hpp"
#include "ham/offload/counters.hpp"

namespace ham::inline v1::detail {

/// The counters of one node of this machine, and what the system says of its process.
struct found_counters {
  base::counter_reading read;
  std::uint64_t rss_bytes = 0;
};

/// Every host makes a job, with the nodes that it has met: by their own counters where they are among `found`. Those
/// that no host claims make jobs of their own.
[[nodiscard]] std::vector<job_counters> jobs_of(const std::vector<found_counters>& found, double read_at_s);

}  // namespace ham::detail
