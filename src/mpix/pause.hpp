// Waiting for MPI, which can only be polled: quick at first, then ever more rarely, so that nobody burns a core.
#pragma once

#include <chrono>

#include "base/backoff.hpp"
#include "mpix/settings.hpp"

namespace ham::inline v1::mpix {

class pause {
 public:
  /// To be called when a poll found nothing.
  void operator()() {
    // The first poll after a sleep may only fetch a message, which the second one finds.
    if (rounds_.next() == rounds::step::sleep && (poll_again_ = !poll_again_)) {
      base::yield();
      return;
    }
    const std::chrono::nanoseconds longest = settings::get().max_pause;
    rounds_.wait(longest.count());
  }

 private:
  // A poll takes about a microsecond. Where there are more processes than cores, others need this one soon.
  using rounds = base::backoff<base::backoff_schedule{
      .spins = 50, .yields = 500, .sleep_ns = 20'000, .max_sleep_ns = 1'000'000'000}>;

  rounds rounds_;
  bool poll_again_ = false;
};

}  // namespace ham::mpix
