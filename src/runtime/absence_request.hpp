// A request for what can be done only while the resident kernel of a device is absent.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace ham::inline v1::detail {

/// Such work waits for the kernel to leave, and it must not be waited for by who receives calls. So who needs it asks,
/// and goes on without; the thread that follows the kernel does it when the kernel is absent. What is asked for is kept
/// by the class derived from this one. All members may be called from any thread.
class absence_request {
 public:
  /// Whether there is something to do.
  [[nodiscard]] bool wanted() const noexcept { return asked_.load(std::memory_order_acquire); }
  /// `then` is called when there is something to do, and must not throw; empty: nobody. On return no other one is being
  /// called.
  void on_wanted(std::function<void()> then) {
    std::lock_guard guard(then_mutex_);
    then_ = std::move(then);
  }

 protected:
  absence_request() = default;
  ~absence_request() = default;
  absence_request(const absence_request&) = delete;
  absence_request& operator=(const absence_request&) = delete;

  /// There is something to do. Calls nothing: wake() is due.
  void want() noexcept { asked_.store(true, std::memory_order_release); }
  /// There is nothing to do, or it is about to be done.
  void clear_wanted() noexcept { asked_.store(false, std::memory_order_release); }
  /// Calls what on_wanted() has set. No lock is held that it may take.
  void wake() noexcept {
    std::lock_guard guard(then_mutex_);
    if (then_) then_();
  }

 private:
  std::mutex then_mutex_;
  std::function<void()> then_;
  std::atomic<bool> asked_{false};
};

}  // namespace ham::detail
