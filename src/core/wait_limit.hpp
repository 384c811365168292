// What ends the wait of a call for its node.
#pragma once

#include <cstdint>
#include <stop_token>

#include "base/clock.hpp"

namespace ham::inline v1::detail {

/// Until when a call, or a transfer, waits for a connection, or for another process of its node.
struct wait_limit {
  std::int64_t deadline_ns = 0;            ///< 0: none
  const std::stop_token* token = nullptr;  ///< that of the call
  bool with_caller = false;                ///< the stop of the function that makes the call ends the wait as well
  bool at_once = false;                    ///< there is no wait: what is begun goes on without it

  [[nodiscard]] std::int64_t late_ns() const noexcept { return deadline_ns == 0 ? base::never_ns : deadline_ns; }
  [[nodiscard]] bool late() const noexcept { return base::now_ns() >= late_ns(); }
  [[nodiscard]] bool can_stop() const noexcept { return token != nullptr || with_caller || at_once; }
  /// For the thread that waits, and executes nothing at the moment.
  [[nodiscard]] bool stopped() const noexcept;
  /// The same: whether the deadline has passed, or it is stopped, or does not wait.
  [[nodiscard]] bool reached() const noexcept { return at_once || late() || stopped(); }
};

}  // namespace ham::detail
