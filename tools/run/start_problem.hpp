// Why a remote end did not start, in words that help.
#pragma once

#include "channel.hpp"
#include "options.hpp"

#include <string>

namespace ham::inline v1::run {

/// The message for an ssh or srun that ended before its ends waited for the host.
[[nodiscard]] std::string why_it_ended(const run_options& options, const channel& which);

/// The message for ends that are not as far as `what` in time.
[[nodiscard]] std::string why_it_is_late(const run_options& options, const channel& which, const std::string& what);

}  // namespace ham::run
