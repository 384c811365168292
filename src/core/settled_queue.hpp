// Outcomes that threads of the library's own bring, until the thread that polls settles them.
#pragma once

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/renew.hpp"
#include "ham/offload/detail/slot.hpp"

namespace ham::inline v1::detail {

/// So that what waits for them goes on where it waits, and the receiving lock stays with those who poll. All members
/// may be called from any thread.
class settled_queue {
 public:
  /// The result, or the error, is in the slot. False: there is no memory to note it. Who adds tells the poller.
  [[nodiscard]] bool add(call_slot& slot, slot_state outcome) noexcept {
    std::lock_guard guard(mutex_);
    try {
      waiting_.push_back({&slot, outcome});
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  /// Calls settle(slot, outcome) for what was added, in order. True if there was something.
  template <class Settle>
  bool settle_all(Settle settle) noexcept {
    std::vector<entry> now;
    {
      std::lock_guard guard(mutex_);
      now.swap(waiting_);
    }
    for (const entry& one : now) settle(*one.slot, one.outcome);
    return !now.empty();
  }
  /// In a child after fork: what was added is the parent's.
  void detach_after_fork() noexcept {
    base::renew(mutex_);
    base::renew(waiting_);
  }

 private:
  struct entry {
    call_slot* slot;
    slot_state outcome;
  };
  std::mutex mutex_;
  std::vector<entry> waiting_;
};

}  // namespace ham::detail
