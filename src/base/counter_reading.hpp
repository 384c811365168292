// What a node has counted, read from memory of which nothing is believed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/counter_area.hpp"
#include "base/recording.hpp"

namespace ham::inline v1::base {

struct counter_reading {
  struct traffic {
    std::uint64_t calls_sent = 0;
    std::uint64_t calls_received = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
    std::uint32_t waiting = 0;
    void add(const traffic& more) noexcept;
  };
  struct peer {
    std::int32_t node = 0;
    std::int32_t number = 0;
    counter_row::state now = counter_row::state::expected;
    std::uint32_t restarts = 0;
    std::int64_t pid = 0;  ///< 0: not known
    std::string transport, machine;
    traffic with;
  };
  std::int64_t pid = 0;
  std::int32_t node = 0;
  std::uint64_t serial = 0;
  std::string program;
  double tick_ns = 0;  ///< 0: not known
  std::int64_t age_ns = 0;
  std::uint64_t sleeps = 0;
  bool asleep = false;
  std::int64_t polled_ago_ns = -1;  ///< negative: never
  std::uint32_t executing = 0;      ///< threads that execute a call
  std::uint64_t set_aside = 0, in_contexts = 0, in_pool = 0;
  counter_head::device_state device = counter_head::device_state::none;
  std::uint64_t device_calls = 0, device_launches = 0;
  std::uint64_t executed = 0;                             ///< calls that are over
  std::uint64_t ticks = 0;                                ///< that they took, all together, by those that were timed
  std::array<std::uint64_t, time_buckets::count> took{};  ///< they by what they took, likewise
  traffic all;
  std::vector<peer> peers;  ///< and the node itself
};

/// The bytes of an area, as they are at this moment, up to the last row that was used; empty: there is none.
[[nodiscard]] std::vector<std::byte> read_counter_area(int fd);
/// nullopt: these are no bytes of counters, or of another release. `now`: after they were read. Texts are printable.
[[nodiscard]] std::optional<counter_reading> parse_counters(std::span<const std::byte> area,
                                                            const tick_reading& now = tick_reading::now());

}  // namespace ham::base
