// What happens to nodes, until the program's handler is told: bounded, nothing is lost.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/ready_queue.hpp"
#include "ham/offload/event.hpp"

namespace ham::inline v1::detail {

/// All members may be called from any thread, also with the receiving lock.
class event_reports {
 public:
  static constexpr std::size_t max_waiting = 1024;  ///< of those that are told one by one

  /// Handlers are called as continuations that are `due`, which runs what it is given before this ends.
  explicit event_reports(ready_queue& due) noexcept : due_(due) {}
  event_reports(const event_reports&) = delete;
  event_reports& operator=(const event_reports&) = delete;

  /// Whether there is a handler: add() is for naught otherwise.
  [[nodiscard]] bool wanted() const noexcept { return has_handler_.load(std::memory_order_relaxed); }
  /// Throws std::bad_alloc.
  void use(offload::event_handler handler);

  /// Without memory it is counted only. Who calls it sees to it that what is due runs.
  void add(offload::event_kind kind, node_t node, std::string_view reason = {}, bool orderly = false) noexcept;

  /// In a child after fork: nobody holds the lock, and nothing is told any more.
  void detach_after_fork() noexcept;

 private:
  static constexpr std::size_t kinds = 16;

  struct delivery : continuation {
    event_reports* of;
  };
  void deliver() noexcept;
  bool merge(offload::event_kind kind, node_t node) noexcept;
  [[nodiscard]] std::vector<offload::event> take();
  [[nodiscard]] std::size_t kinds_beyond() const noexcept;

  ready_queue& due_;
  delivery delivery_{{[](continuation* self) { static_cast<delivery*>(self)->of->deliver(); }}, this};
  std::atomic<bool> has_handler_{false};
  std::mutex mutex_;
  std::shared_ptr<const offload::event_handler> handler_;
  std::vector<offload::event> waiting_;
  std::array<std::uint64_t, kinds> beyond_{};  ///< those for which there was no room
  bool due_to_run_ = false;                    ///< `delivery_` is in the queue, or runs
};

}  // namespace ham::detail
