// The report of an application on standard output: text for people, or one JSON object.
#pragma once

#include <iosfwd>

#include "bench/report.hpp"

namespace app {

enum class format { text, json };

/// Throws std::logic_error if JSON is asked for and was not built in (ham::bench::json_available()).
void print(std::ostream& out, const ham::bench::report& what, format as);

}  // namespace app
