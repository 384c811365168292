// The file after --hostfile: one machine per line.
#pragma once

#include "machines.hpp"

#include <istream>
#include <string>
#include <vector>

namespace ham::inline v1::run {

/// Reads lines "NAME", "NAME:COUNT" or "NAME slots=COUNT"; what follows a # is a comment. Throws problem with `file`
/// and the line's number.
[[nodiscard]] std::vector<machine> parse_hostfile(std::istream& in, const std::string& file);

/// The same for a file of that name.
[[nodiscard]] std::vector<machine> read_hostfile(const std::string& file);

}  // namespace ham::run
