// Deadlines of calls: kept by time, expired by whoever makes progress.
#include <algorithm>
#include <functional>

#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {

/// mutex_ is held. Its price is shared by as many calls with deadlines as it looks at.
void engine::forget_settled_deadlines() {
  std::erase_if(deadlines_, [this](const auto& one) {
    const call_slot* const slot = slots_.find(one.second);
    return slot == nullptr || slot->settled();
  });
  std::make_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
  most_deadlines_ = std::max<std::size_t>(64, 2 * deadlines_.size());
}

void engine::add_deadline(std::uint32_t call, std::int64_t deadline_ns) {
  std::lock_guard guard(mutex_);
  if (deadlines_.size() >= most_deadlines_) forget_settled_deadlines();
  deadlines_.emplace_back(deadline_ns, call);
  std::push_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
  const bool sooner = deadlines_.front().first < next_deadline_.load();
  next_deadline_.store(deadlines_.front().first);
  if (sooner && sleeping_.load()) kick();
}

void engine::expire_deadlines(std::int64_t now) {
  if (!receiving_.try_lock()) return;
  std::vector<std::uint32_t> due;
  {
    std::lock_guard guard(mutex_);
    while (!deadlines_.empty() && deadlines_.front().first <= now) {
      due.push_back(deadlines_.front().second);
      std::pop_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
      deadlines_.pop_back();
    }
    next_deadline_.store(deadlines_.empty() ? base::never_ns : deadlines_.front().first);
  }
  for (const std::uint32_t call : due) {
    call_slot* const slot = slots_.find(call);
    if (slot == nullptr || slot->state.load() != slot_state::pending) continue;
    // Detached: the late reply will free it. Another deadline: the id was used again since.
    if (slot->orphan || slot->deadline_ns == 0 || slot->deadline_ns > now) continue;
    const std::string function =
        slot->function != nullptr ? table_->pretty_name(slot->function->key()) : std::string("a call");
    fail(*slot, std::make_exception_ptr(deadline_exceeded(
                    function + " on node " + std::to_string(slot->node) +
                    " did not answer before its deadline (it may still run; its result will be dropped)")));
  }
  finish_progress();
}

}  // namespace ham::detail
