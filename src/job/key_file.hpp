// Keys of a job in files: 256 bits as 64 hexadecimal digits, readable by their owner only.
#pragma once

#include <string>

#include "transport/network.hpp"

namespace ham::inline v1::detail {

/// Reads a key from a file, or from an inherited descriptor that "fd:NUMBER" names. Refuses files that others can read.
/// Throws ham::config_error.
[[nodiscard]] transport::secret_key read_key(const std::string& from);
/// Makes a new key file; never overwrites one. Throws ham::config_error.
void make_key_file(const std::string& path);
/// A key that nobody can guess. Throws ham::config_error.
[[nodiscard]] transport::secret_key random_key();

}  // namespace ham::detail
