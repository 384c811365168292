// A stop token, and what stops it.
#pragma once

#include <cstdint>
#include <stop_token>
#include <thread>

#include "base/clock.hpp"

namespace ham::inline v1::sim {

/// Stops it now, by another thread after a while, or when it is asked to.
class stopper {
 public:
  stopper(bool now, bool later, std::int64_t pause_ns) {
    if (now) source_.request_stop();
    if (!now && later) {
      other_ = std::thread([source = source_, pause_ns]() mutable {
        base::sleep_ns(pause_ns);
        source.request_stop();
      });
    }
  }
  ~stopper() { join(); }
  stopper(const stopper&) = delete;
  stopper& operator=(const stopper&) = delete;

  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }
  void stop() {
    if (!other_.joinable()) source_.request_stop();
  }
  void join() {
    if (other_.joinable()) other_.join();
  }

 private:
  std::stop_source source_;
  std::thread other_;
};

}  // namespace ham::sim
