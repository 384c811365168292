// Waiting for MPI, which can only be polled: quick at first, then ever more rarely, so that nobody burns a core.
#pragma once

#include "mpix/settings.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace ham::mpix {

class pause {
 public:
  /// To be called when a look found nothing.
  void operator()() {
    const auto longest = settings::get().max_pause;
    const auto now = std::chrono::steady_clock::now();
    if (!waiting_) {
      waiting_ = true;
      since_ = now;
      length_ = first;
    }
    if (longest.count() <= 0 || now - since_ < awake) {
      ::sched_yield();
      return;
    }
    std::this_thread::sleep_for(length_);
    length_ = std::min(2 * length_, longest);
  }

  /// To be called when a look found something.
  void reset() noexcept { waiting_ = false; }

 private:
  static constexpr std::chrono::microseconds awake{500};
  static constexpr std::chrono::microseconds first{20};

  bool waiting_ = false;
  std::chrono::steady_clock::time_point since_{};
  std::chrono::microseconds length_ = first;
};

}  // namespace ham::mpix
