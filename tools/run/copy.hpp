// Copies of programs on machines that have none.
#pragma once

#include "options.hpp"

#include <functional>
#include <string>

namespace ham::inline v1::run {

struct copy_order {
  std::string machine;
  std::string folder;  ///< there
  std::string name;    ///< there
  std::string file;    ///< here
};

/// Copies a file through an ssh of its own. `look` is called again and again and may throw. Throws problem, also when
/// nothing moves for the time that options allow.
void copy_file(const run_options& options, const copy_order& what, const std::function<void(int timeout_ms)>& look);

}  // namespace ham::run
