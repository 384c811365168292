// What ham-top shows, as JSON.
#pragma once

#include <string>
#include <vector>

#include "view.hpp"

namespace ham::inline v1::top {

/// An array of jobs; what is not known is null. Throws std::runtime_error if this program was built without
/// nlohmann-json.
[[nodiscard]] std::string json_text(const std::vector<shown_job>& jobs);

}  // namespace ham::top
