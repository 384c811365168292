// Counters of a trace: what the program counts, the calls that wait for each node, and the bytes that each node sends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/job_clocks.hpp"
#include "trace/pftrace_writer.hpp"

namespace ham::inline v1::trace {

struct counter_series {
  std::string unit;
  std::vector<std::pair<std::int64_t, double>> values;  ///< by time in nanoseconds
};
/// By node and name.
using counter_map = std::map<std::pair<std::int32_t, std::string>, counter_series>;

/// "calls waiting" per node (between sending and execution), "bytes sent per second" per node (messages of calls, and
/// what it puts and gets), and the program's own. The first two are shown in steps of a 20 000th of the time: of the
/// calls the most in each step.
[[nodiscard]] counter_map call_rates(const job_parts& parts, const std::vector<traced_call>& calls,
                                     const job_clocks& clocks);

/// `track_of`: of a node, 0: it has none.
void write_counters(pftrace_writer& to, const counter_map& all,
                    const std::function<pftrace_writer::track(std::int32_t node)>& track_of);

}  // namespace ham::trace
