// The timeline of a trace as one page of HTML, for machines without ui.perfetto.dev.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include "pftrace_reader.hpp"

namespace ham::inline v1::trace {

/// Needs nothing but a browser: no network, no other file. Of more than `max_slices` the longest are shown, and the
/// page says so.
void write_timeline(std::ostream& out, const shown_trace& trace, const std::string& title,
                    std::size_t max_slices = 50'000);

}  // namespace ham::trace
