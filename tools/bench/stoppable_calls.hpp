// What stops cost calls: those that none can reach, and those that one can.
#pragma once

#include "report.hpp"
#include "session.hpp"

namespace ham::inline v1::bench {

/// An empty sync without deadline or token, in jobs that have made no other calls and in jobs that have made calls with
/// deadlines, tokens and stops; each beside the bounce of a cache line. Calls with a deadline or a token, beside such
/// without. Appends tables, and where the bounce is the floor of the transport, bars.
void add_stoppable_calls(const settings& how, report& to);

}  // namespace ham::bench
