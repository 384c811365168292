// One trace out of the parts that the processes of a job have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>

#include "trace/call_matching.hpp"

namespace ham::inline v1::trace {

/// What came of it.
struct join_result {
  std::size_t nodes = 0;
  std::size_t calls = 0;
  std::size_t arrows = 0;
  std::uint64_t dropped = 0;    ///< events for which their processes had no room
  double max_backwards_ns = 0;  ///< by which an arrow points backwards, within the bounds that the trace states
};

/// Writes a trace of Perfetto. `parts` have one job; of each its clock is mapped to that of node 0.
join_result write_trace(const job_parts& parts, std::ostream& to);

}  // namespace ham::trace
