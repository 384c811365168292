// How often each call has run, in memory that all processes of a run map: it outlives those that are killed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ham/offload.hpp"

namespace soak {

/// Names a call: its place in the ledger, and its number. 0: nothing is recorded.
struct stamp {
  std::uint32_t place = 0;
  std::uint64_t serial = 0;
  HAM_FIELDS(place, serial)
};

inline constexpr std::size_t places_per_worker = 4096;
inline constexpr std::size_t max_workers = 16;

/// A word of each place: the number of the call in the upper 48 bits, how often it has run below.
using ledger_words = std::array<std::atomic<std::uint64_t>, places_per_worker * max_workers>;

/// The ledger of this process: the file that HAM_SOAK_LEDGER names. Ends the process if there is none.
[[nodiscard]] ledger_words& ledger();

/// For the function that a call executes. A call whose place has gone to another one is not recorded.
void record(stamp call) noexcept;

/// What is known of a call.
enum class runs : std::uint8_t {
  once,
  never,
  no_more_than_once,
  at_least_once,  ///< a result of a call that may be repeated
  any_number
};

/// One thread's part of the ledger. What it has expected of a call is looked at at once, and once more when its place
/// goes to another call, some thousand calls later: whatever runs late has run by then.
class ledger_part {
 public:
  explicit ledger_part(std::size_t worker) : worker_(worker) {}
  /// `verb`: what makes the call, for people.
  [[nodiscard]] stamp claim(const char* verb, runs at_first);
  void expect(stamp call, runs how_often);
  /// All of them once more.
  void check_all();
  [[nodiscard]] std::uint64_t claimed() const noexcept { return next_; }

 private:
  void check(std::size_t at) const;

  const std::size_t worker_;
  std::uint64_t next_ = 0;
  struct place {
    runs expected = runs::no_more_than_once;
    const char* verb = "";
  };
  std::vector<place> places_{places_per_worker};
};

}  // namespace soak
