// An endpoint that must be looked at, because its medium wakes nobody.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "transport/transport.hpp"

namespace ham::transport {

class polled_endpoint : public endpoint {
 public:
  using endpoint::endpoint;

  [[nodiscard]] endpoint_state state() const noexcept override { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] std::string reason() const override {
    std::lock_guard guard(mutex_);
    return reason_;
  }
  void close(const std::string& reason) noexcept override {
    std::lock_guard guard(mutex_);
    if (state_.load() != endpoint_state::open) return;
    reason_ = reason;
    state_.store(endpoint_state::broken, std::memory_order_release);
  }
  [[nodiscard]] remote_memory* memory() noexcept override { return memory_.get(); }
  void set_memory(std::unique_ptr<remote_memory> memory) { memory_ = std::move(memory); }

  // ---- for polled_transport, under the receiving lock
  /// Whether nothing has arrived.
  [[nodiscard]] virtual bool empty() const noexcept = 0;
  /// The last look found bytes that break the format.
  [[nodiscard]] virtual bool malformed() const noexcept = 0;
  /// The medium does not reach the peer any more.
  [[nodiscard]] virtual bool failed() const noexcept = 0;
  /// Whether something was sent since this was asked last: an answer may come.
  [[nodiscard]] bool take_stirred() noexcept {
    return stirred_.load(std::memory_order_relaxed) && stirred_.exchange(false, std::memory_order_relaxed);
  }

 protected:
  void stir() noexcept { stirred_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> stirred_{false};
  std::atomic<endpoint_state> state_{endpoint_state::open};
  std::unique_ptr<remote_memory> memory_;
  mutable std::mutex mutex_;
  std::string reason_;
};

}  // namespace ham::transport
