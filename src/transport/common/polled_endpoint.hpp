// An endpoint that must be looked at, because its medium wakes nobody.
#pragma once

#include <atomic>
#include <string>

#include "transport/common/owned_endpoint.hpp"

namespace ham::inline v1::transport {

class polled_endpoint : public owned_endpoint {
 public:
  using owned_endpoint::owned_endpoint;

  // ---- for polled_transport, under the receiving lock
  /// Whether nothing has arrived.
  [[nodiscard]] virtual bool empty() const noexcept = 0;
  /// The last look found bytes that break the format.
  [[nodiscard]] virtual bool malformed() const noexcept = 0;
  /// The medium does not reach the peer any more.
  [[nodiscard]] virtual bool failed() const noexcept = 0;
  /// Why, and what to do; completes "node 3 failed: ...".
  [[nodiscard]] virtual std::string failure() const { return "its memory cannot be reached any more"; }
  /// Whether something was sent since this was asked last: an answer may come.
  [[nodiscard]] bool take_active() noexcept {
    return active_.load(std::memory_order_relaxed) && active_.exchange(false, std::memory_order_relaxed);
  }

 protected:
  void set_active() noexcept { active_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> active_{false};
};

}  // namespace ham::transport
