// When the memory of long messages goes back to the system.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"

namespace ham::inline v1::detail {

/// The next long message finds warm pages, if it comes soon. All members may be called from any thread.
class long_memory_timer {
 public:
  static constexpr std::int64_t keep_ns = 1'000'000'000;

  /// A long message was made, or came.
  void start() noexcept { start(base::now_ns()); }
  void start(std::int64_t now_ns) noexcept { at_ns_.store(now_ns + keep_ns, std::memory_order_relaxed); }
  /// There is nothing to give back.
  void stop() noexcept { at_ns_.store(base::never_ns, std::memory_order_relaxed); }
  /// base::never_ns: it does not run.
  [[nodiscard]] std::int64_t due_ns() const noexcept { return at_ns_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> at_ns_{base::never_ns};
};

}  // namespace ham::detail
