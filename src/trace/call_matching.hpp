// Which event of one process belongs to which of another: a call, its execution and its answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/trace_part.hpp"

namespace ham::inline v1::trace {

/// Where an event is: among the parts of a job.
struct event_place {
  static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t part = nowhere;
  std::uint32_t thread = 0;
  std::uint32_t index = 0;
  explicit operator bool() const noexcept { return part != nowhere; }
  friend bool operator==(const event_place&, const event_place&) = default;
};

/// What is known of a call. One that was not traced at one of its ends lacks what happened there.
struct traced_call {
  event_place sent;
  event_place executed;
  event_place settled;
};

using job_parts = std::vector<base::trace_part>;
[[nodiscard]] inline const base::trace_event& event_at(const job_parts& parts, const event_place& at) {
  return parts[at.part].threads[at.thread].events[at.index];
}

/// Maps ticks of a part to nanoseconds that can be compared between parts, about.
using common_clock = std::function<double(std::uint32_t part, std::uint64_t ticks)>;

/// All calls that were sent. The n-th execution of a call's number belongs to the n-th call with that number, if there
/// are as many; otherwise, if there is a clock, to the last one that had been sent then, give or take `slack_ns`.
[[nodiscard]] std::vector<traced_call> match_calls(const job_parts& parts, const common_clock& clock, double slack_ns);

}  // namespace ham::trace
