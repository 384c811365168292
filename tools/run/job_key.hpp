// The key of one run.
#pragma once

#include "descriptor.hpp"

#include <string>

namespace ham::run {

/// 256 random bits in hexadecimal. Throws problem.
[[nodiscard]] std::string make_job_key();

/// An open file without a name that holds `key`, to be inherited. Throws problem.
[[nodiscard]] descriptor key_in_memory(const std::string& key);

}  // namespace ham::run
