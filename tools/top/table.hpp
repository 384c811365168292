// The table of ham-top.
#pragma once

#include <string>
#include <vector>

#include "view.hpp"

namespace ham::inline v1::top {

/// Three digits and a unit: "12.3 k", "1.20 M"; "-": negative.
[[nodiscard]] std::string short_number(double value);
/// "850 ns", "1.25 ms"; "-": negative.
[[nodiscard]] std::string short_time(double seconds);

/// A line for each job, one with the columns, and one for each node.
[[nodiscard]] std::vector<std::string> table_lines(const std::vector<shown_job>& jobs);

}  // namespace ham::top
