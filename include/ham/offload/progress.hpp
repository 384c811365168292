// Progress by hand: for programs whose threads do something else than wait for results.
//
//   while (simulating()) { step(); offload::progress(); }
#pragma once

#include <chrono>
#include <cstdint>

#include "ham/offload/destination.hpp"

namespace ham::inline v1::offload {

namespace detail {
void make_progress_until(std::int64_t until_ns);
}  // namespace detail

/// Executes calls that have arrived, settles futures whose results have, runs continuations that are due, at most a
/// bounded number; does not wait for more. True if there was something. Any thread; a thread that is called often
/// enough needs no progress thread. What runs is what would run in a wait (docs/thread-model.md). Throws
/// ham::config_error if no runtime is up.
bool progress();

/// The same for `time`; sleeps while there is nothing to do.
template <class Rep, class Period>
void progress_for(std::chrono::duration<Rep, Period> time) {
  detail::make_progress_until(detail::time_from_now(time));
}

}  // namespace ham::offload
