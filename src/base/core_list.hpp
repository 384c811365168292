// Lists of cores in settings.
#pragma once

#include <string_view>
#include <vector>

namespace ham::inline v1::base {

/// Reads a list of cores: numbers and ranges separated by `separator`, "0,2-3". Throws ham::config_error.
[[nodiscard]] std::vector<int> parse_cores(std::string_view text, char separator);

}  // namespace ham::base
