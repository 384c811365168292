// What ham-run throws when it cannot do what it was asked for.
#pragma once

#include <stdexcept>
#include <string>

namespace ham::inline v1::run {

/// Problem, reason and what to do, in one text.
struct problem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ham::run
