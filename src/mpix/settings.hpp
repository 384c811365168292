// What the environment says: HAM_MPIX_GRACE, HAM_MPIX_POLL and HAM_MPIX_PART.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/numbers.hpp"

namespace ham::inline v1::mpix {

struct settings {
  /// How long a failure may wait for a parent to fetch it before the child ends the job; negative: for ever.
  std::chrono::seconds grace{10};
  /// Longest pause between two polls for messages; zero: never sleep.
  std::chrono::microseconds max_pause{1500};
  /// Messages are sent in parts of at most so many bytes: MPI counts with int.
  std::uint64_t part = std::uint64_t{1} << 30U;

  /// As the environment is at the first call.
  static const settings& get() {
    static const settings all = read();
    return all;
  }
  /// As the environment is now. What is no number counts as not set.
  static settings read() {
    settings result;
    if (const auto seconds = number_in("HAM_MPIX_GRACE")) result.grace = std::chrono::seconds(*seconds);
    if (const auto pause = number_in("HAM_MPIX_POLL")) result.max_pause = std::chrono::microseconds(*pause);
    if (const auto bytes = number_in("HAM_MPIX_PART"); bytes && *bytes >= 4096) {
      result.part = std::min(result.part, static_cast<std::uint64_t>(*bytes));
    }
    return result;
  }

 private:
  static std::optional<int> number_in(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? std::nullopt : base::parse_int(text);
  }
};

}  // namespace ham::mpix
