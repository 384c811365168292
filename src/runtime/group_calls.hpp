// The calls of groups that wait for answers of other nodes: how many there are, and which ones a future stands for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "base/renew.hpp"
#include "ham/offload/detail/group_message.hpp"
#include "ham/offload/detail/slot.hpp"

namespace ham::inline v1::detail {

/// Of all runtimes of this process: those that it passes on or has made.
[[nodiscard]] int group_calls_under_way() noexcept;

/// Whether a pending call passes the message of a group on: its answer says which of its nodes have run the function.
[[nodiscard]] bool is_passed_on(const call_slot& call) noexcept;

/// Whether its node answers a pending call of a group when others behind it have answered.
[[nodiscard]] bool waits_for_others(const call_slot& call) noexcept;

/// The calls that one future of a group stands for.
struct group_parts_sent {
  std::array<std::uint32_t, group_fan_out> calls{};
  std::size_t count = 0;
};

/// Of the groups that this node has called and that have not answered. Any thread.
class started_groups {
 public:
  /// Throws std::bad_alloc.
  void add(const call_slot& future, const group_parts_sent& parts) {
    std::lock_guard guard(mutex_);
    all_.insert_or_assign(&future, parts);
  }
  /// Before the slot of the future may become another's.
  void remove(const call_slot& future) noexcept {
    std::lock_guard guard(mutex_);
    all_.erase(&future);
  }
  /// None: it is no group's, or has its answers.
  [[nodiscard]] group_parts_sent parts_of(const call_slot& future) const noexcept {
    std::lock_guard guard(mutex_);
    const auto found = all_.find(&future);
    return found == all_.end() ? group_parts_sent{} : found->second;
  }
  /// In a child after fork: no thread holds the lock, and no answers come.
  void detach_after_fork() noexcept { base::renew(mutex_); }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const call_slot*, group_parts_sent> all_;
};

}  // namespace ham::detail
