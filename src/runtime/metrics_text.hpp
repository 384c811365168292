// Counters of jobs in the text format of Prometheus, version 0.0.4.
#pragma once

#include <string>
#include <vector>

#include "ham/offload/counters.hpp"

namespace ham::inline v1::detail {

/// What a server says in Content-Type.
inline constexpr const char* metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

/// All metrics of all nodes; those that have gone are left out.
[[nodiscard]] std::string metrics_text(const std::vector<job_counters>& jobs);

}  // namespace ham::detail
