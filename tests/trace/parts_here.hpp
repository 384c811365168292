// Parts of a trace as processes would have written them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/trace_part.hpp"

namespace ham::inline v1::test {

/// A part whose ticks are nanoseconds, `ahead` of those of a part with 0.
inline base::trace_part part_of(std::int32_t node, std::vector<base::trace_event> events, std::uint64_t boot = 1) {
  base::trace_part part;
  part.job = 1;
  part.node = node;
  part.pid = 100 + node;
  part.source = base::tick_source::x86_counter;
  part.start = {1'000'000, 5'000'000};
  part.latest = {2'000'000'000, 2'004'000'000};
  part.boot[0] = boot;
  part.machine = "here";
  part.program = "test";
  part.functions = {"f()", "g(int)"};
  part.threads.push_back({node, static_cast<std::uint32_t>(10 + node), "main", std::move(events)});
  return part;
}

/// Times are nanoseconds since the start of the part.
inline base::trace_event event_of(base::trace_kind kind, std::uint64_t begin, std::uint64_t end, std::int32_t peer,
                                  std::uint32_t function, std::uint32_t call, std::uint64_t bytes = 0) {
  constexpr std::uint64_t start = 1'000'000;
  return base::trace_event::make(kind, start + begin, start + end,
                                 base::trace_event::pair(static_cast<std::uint32_t>(peer), bytes),
                                 base::trace_event::pair(function, call));
}

/// A call from node 0 that node 1, whose clock is `ahead`, executes; there and back it takes 100 each.
struct call_between {
  std::vector<base::trace_event> caller;
  std::vector<base::trace_event> callee;

  void add(std::uint64_t at, std::uint32_t call, std::uint64_t ahead = 0, std::uint32_t function = 0) {
    using enum base::trace_kind;
    caller.push_back(event_of(sent, at, at + 50, 1, function, call, 64));
    callee.push_back(event_of(executed, ahead + at + 150, ahead + at + 350, 0, function, call, 20));
    caller.push_back(event_of(settled, at + 450, at + 450, 1, function, call));
    caller.push_back(event_of(waited, at + 50, at + 450, 1, function, call));
  }
};

}  // namespace ham::test
