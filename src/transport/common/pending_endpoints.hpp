// Endpoints that any thread brings, until the receiving thread takes them in.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ham::inline v1::transport {

template <class Endpoint>
class pending_endpoints {
 public:
  void add(std::unique_ptr<Endpoint> one) {
    std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(one));
    any_.store(true, std::memory_order_release);
  }
  /// any() is true until the next take().
  void look() noexcept { any_.store(true, std::memory_order_release); }
  [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_acquire); }
  [[nodiscard]] std::vector<std::unique_ptr<Endpoint>> take() {
    std::lock_guard guard(mutex_);
    any_.store(false, std::memory_order_relaxed);
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Endpoint>> waiting_;
  std::atomic<bool> any_{false};
};

}  // namespace ham::transport
