// Ends a run in which a worker waits for too long, and says who waits for what.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "soak/worker.hpp"

namespace soak {

class watchdog {
 public:
  watchdog(const std::vector<std::unique_ptr<worker>>& workers, const seats& targets, std::chrono::seconds limit);
  ~watchdog();
  /// The thread that puts new targets in place is one of those who wait. 0: it does not.
  std::atomic<std::int64_t> replacing_since_ns{0};

 private:
  void watch();
  [[noreturn]] void give_up(const char* who, std::int64_t now) const;

  const std::vector<std::unique_ptr<worker>>& workers_;
  const seats& seats_;
  const std::chrono::nanoseconds limit_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace soak
