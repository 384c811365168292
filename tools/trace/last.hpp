// ham-trace last: what the processes of a job did last.
#pragma once

#include <ham/offload/recording.hpp>

#include <cstddef>
#include <ostream>
#include <vector>

namespace ham::inline v1::trace {

/// One paragraph per node and thread: what it executes, then `max_events` of its past events, the newest first.
void print_last(std::ostream& out, const std::vector<node_recording>& job, std::size_t max_events);

}  // namespace ham::trace
