// What one thread did, as slices one inside of the other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/trace_part.hpp"

namespace ham::inline v1::trace {

struct slice {
  enum class of : std::uint8_t { event, reply };
  std::int64_t begin = 0;  ///< in nanoseconds
  std::int64_t end = 0;
  std::uint32_t index = 0;  ///< of the event
  of what = of::event;
};

/// Of the events that take time on their thread, in the order of their begin, the outer before the inner; an inner one
/// ends with its outer one at the latest. An execution with an answer contains a slice of its reply. Transfers, which
/// may go on while their thread does something else, and counters are none. `to_ns(ticks)`: monotonic.
template <class ToNs>
[[nodiscard]] std::vector<slice> slices_of(const base::trace_part::thread& thread, ToNs to_ns);

/// Sorts and clips them.
void nest(std::vector<slice>& slices);

template <class ToNs>
std::vector<slice> slices_of(const base::trace_part::thread& thread, ToNs to_ns) {
  using base::trace_kind;
  std::vector<slice> all;
  all.reserve(thread.events.size());
  for (std::uint32_t i = 0; i < thread.events.size(); ++i) {
    const base::trace_event& one = thread.events[i];
    switch (one.kind()) {
      case trace_kind::none:
      case trace_kind::settled:
      case trace_kind::put:
      case trace_kind::got:
      case trace_kind::counter:
      case trace_kind::name: continue;
      default: break;
    }
    const std::uint64_t end = one.begin + one.length();
    all.push_back({to_ns(one.begin), to_ns(end), i, slice::of::event});
    if (one.kind() == trace_kind::executed && one.bytes() != 0)
      all.push_back({to_ns(end - one.bytes()), to_ns(end), i, slice::of::reply});
  }
  nest(all);
  return all;
}

}  // namespace ham::trace
