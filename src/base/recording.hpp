// What a flight recorder holds, for people: read from memory of which nothing is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/recorded_event.hpp"
#include "base/ticks.hpp"

namespace ham::inline v1::base {

/// The count of ticks, and the time when it was that.
struct tick_reading {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
  [[nodiscard]] static tick_reading now() noexcept;
};

/// How long a tick of this machine is, by a reading of before, which may say anything, and one of now; 0: not known.
[[nodiscard]] double tick_length_ns(tick_source source, const tick_reading& before, const tick_reading& now) noexcept;

struct recording {
  struct event {
    recorded_kind kind = recorded_kind::none;
    std::int32_t peer = 0;
    std::uint32_t function = 0;  ///< its place among `names`, or, from first_named_function on, among `named`
    std::uint32_t call = 0;
    std::int64_t age_ns = -1;  ///< how long ago it was; negative: not known
  };
  struct thread {
    std::uint32_t id = 0;
    std::vector<event> open;  ///< what it executes, the outermost first
    std::vector<event> past;  ///< the newest first
  };
  std::int32_t node = 0;
  std::int64_t pid = 0;
  std::vector<std::string> names;  ///< of functions, canonical
  std::vector<std::string> named;  ///< of those that are no handlers, as they were given
  std::vector<thread> threads;     ///< that have recorded something
};

/// The bytes of an area in a file, as they are at this moment; empty: there is none, or it cannot be read.
[[nodiscard]] std::vector<std::byte> read_recorder_area(int fd, std::uint64_t offset);
/// nullopt: these are no bytes of a recorder. Torn events are left out. `now`: after they were read.
[[nodiscard]] std::optional<recording> parse_recording(std::span<const std::byte> area,
                                                       const tick_reading& now = tick_reading::now());

}  // namespace ham::base
