// All that is written down of an execution: by the flight recorder, the counters and, while there is one, the trace.
#pragma once

#include <cstdint>

#include "base/own_counters.hpp"
#include "base/recorder.hpp"
#include "base/ticks.hpp"
#include "base/tracer.hpp"

namespace ham::inline v1::base {

/// While it lives, the calling thread executes a call. The clock is read once for all that is written down, if `begun`
/// is exact; else once more for the calls that are timed.
class observed_execution {
 public:
  struct call_of {
    std::int32_t node;       ///< that executes it
    std::int32_t peer;       ///< that has made it
    std::uint32_t function;  ///< its key
    std::uint32_t call;      ///< its number
    trace_kind kind = trace_kind::executed;
  };
  [[gnu::always_inline]] observed_execution(const call_of& what, own_counters* counters,
                                            std::uint64_t begun = read_ticks(), bool exact = true) noexcept
      : begun_(begun),
        recorded_(what.peer, what.function, what.call, begun),
        counted_(counters, begun, exact),
        traced_(what.node, what.peer, what.function, what.call, begun, what.kind) {}

  /// The call has ended, and the thread executes another one, of the same kind and on the same node, in its place.
  /// `quick`: what is known of the call that has ended. Behind quick ones the clock, which takes as long to be read as
  /// a small call, is read for the counters' sample and for traces only; else the next call is recorded with the begin
  /// of the last one for which it was. Gives what is known of the ended one now: calls are quick as long as those
  /// between two readings of the clock take some us together.
  [[nodiscard]] bool next(const call_of& what, bool quick) noexcept {
    if (quick && !tracing() && !traced_.is_open() && counted_.skip()) [[likely]] {
      recorded_.next(what.peer, what.function, what.call, begun_);
      return true;
    }
    const std::uint64_t now = read_ticks();
    quick = now - begun_ < timed_sample::quick_ticks;
    begun_ = now;
    traced_.next(what.node, what.peer, what.function, what.call, now);
    counted_.next(now);
    recorded_.next(what.peer, what.function, what.call, now);
    return quick;
  }

  /// The innermost call of this thread, if it has that number, was given to another one, which executes it.
  static void leave_to_other(std::uint32_t call) noexcept {
    this_recorder.mark_queued(call);
    counted_execution::leave_to_other();
    if (tracing()) [[unlikely]]
      this_tracer.mark_queued();
  }

 private:
  std::uint64_t begun_;
  recorded_execution recorded_;
  counted_execution counted_;
  traced_execution traced_;
};

}  // namespace ham::base
