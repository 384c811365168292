// Memory of other processes that is mapped here and page-locked for copies of the device: which, and when that is done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "transport/device_memory.hpp"

namespace ham::inline v0::detail {

/// To lock pages waits for the resident kernel to leave, and it must not be waited for by who receives calls. So who
/// needs pages locked asks, and goes on without; the thread that follows the kernel locks them when it is absent. All
/// members may be called from any thread.
class page_locks {
 public:
  static constexpr std::size_t max_places = 4096;  ///< what is asked for beyond is never locked

  explicit page_locks(transport::device_memory& of) noexcept : of_(of) {}

  /// Whether the device copies from and to this memory directly, which stays mapped as long as the process. If nobody
  /// has asked for it so far: not yet. Throws std::bad_alloc.
  [[nodiscard]] bool has(std::span<std::byte> pages);
  /// Whether there is something to lock.
  [[nodiscard]] bool wanted() const noexcept { return asked_.load(std::memory_order_acquire); }
  /// Locks what was asked for. The resident kernel is absent, and stays so meanwhile; one thread at a time.
  void lock_wanted() noexcept;
  /// `then` is called when there is something to lock; empty: nobody. On return no other one is being called.
  void on_wanted(std::function<void()> then);

 private:
  enum class state : std::uint8_t { wanted, locked, refused };
  using place = std::pair<std::byte*, std::size_t>;

  transport::device_memory& of_;
  std::mutex mutex_;  // guards what follows
  std::map<place, state> all_;
  std::mutex then_mutex_;
  std::function<void()> then_;
  std::atomic<bool> asked_{false};
};

}  // namespace ham::detail
