// What the environment says: HAM_MPIX_GRACE, HAM_MPIX_POLL and HAM_MPIX_PART.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace ham::mpix {

struct settings {
  /// How long a failure may wait for a parent to fetch it before the child ends the job; negative: for ever.
  std::chrono::seconds grace{10};
  /// Longest pause between two polls for messages; zero: never sleep.
  std::chrono::microseconds max_pause{1000};
  /// Messages are sent in parts of at most so many bytes: MPI counts with int.
  std::uint64_t part = std::uint64_t{1} << 30U;

  static const settings& get() {
    static const settings all = [] {
      settings result;
      if (const char* text = std::getenv("HAM_MPIX_GRACE")) result.grace = std::chrono::seconds(std::atoi(text));
      if (const char* text = std::getenv("HAM_MPIX_POLL")) {
        result.max_pause = std::chrono::microseconds(std::atoi(text));
      }
      if (const char* text = std::getenv("HAM_MPIX_PART")) {
        const long long bytes = std::atoll(text);
        if (bytes >= 4096 && static_cast<std::uint64_t>(bytes) < result.part) {
          result.part = static_cast<std::uint64_t>(bytes);
        }
      }
      return result;
    }();
    return all;
  }
};

}  // namespace ham::mpix
