// The state of a run in a file.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "shallow_water/flow.hpp"

namespace shallow_water {

struct checkpoint {
  domain of;
  std::uint64_t step = 0;
  std::vector<double> state;
};

/// The file cannot be used; what() names it, says why, and what to do.
class file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Replaces FILE as a whole, after the new content is written: who stops it in between leaves the old one.
void write_checkpoint(const std::string& file, const checkpoint& what);
/// Throws file_error for what is missing, cut off, damaged, or not a checkpoint.
[[nodiscard]] checkpoint read_checkpoint(const std::string& file);

}  // namespace shallow_water
