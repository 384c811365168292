// Growth and end of the table of pending calls.
#include "core/slot_table.hpp"

#include <mutex>
#include <utility>

namespace ham::inline v1::detail {

slot_table::chain slot_table::chain::cut(std::size_t most) noexcept {
  chain some;
  some.first = first;
  call_slot* last = nullptr;
  while (first != nullptr && some.count != most) {
    last = first;
    first = reinterpret_cast<call_slot*>(last->then);
    ++some.count;
    --count;
  }
  if (last != nullptr) last->then = nullptr;
  return some;
}

bool slot_table::grow() {
  // The very last id means "no reply" on the wire, so the last chunk is never used.
  if (used_chunks_ + 1 >= max_chunks) return false;
  auto* const part = new chunk;
  const auto first = static_cast<std::uint32_t>(used_chunks_ * chunk_slots);
  for (std::size_t i = chunk_slots; i-- > 0;) {
    call_slot& slot = part->slots[i];
    slot.id.store(first + static_cast<std::uint32_t>(i), std::memory_order_relaxed);
    slot.owner = owner_;
    free_.push(slot);
  }
  chunks_[used_chunks_++].store(part, std::memory_order_release);
  return true;
}

/// The list of the calling thread is empty, and locked.
call_slot* slot_table::claim_of_others(free_list& mine) {
  {
    const std::unique_lock held(mine.lock, std::adopt_lock);
    const std::lock_guard guard(lock_);
    if (free_.first != nullptr || grow()) {
      mine.slots = mine.most == SIZE_MAX ? std::exchange(free_, {}) : free_.cut(list_slots);
      return mine.slots.pop();
    }
  }
  for (free_list& one : lists_) {
    const std::lock_guard guard(one.lock);
    if (one.slots.first != nullptr) return one.slots.pop();
  }
  return nullptr;
}

void slot_table::spread() noexcept {
  if (spread_.load(std::memory_order_relaxed)) return;
  for (free_list& one : lists_) {
    const std::lock_guard held(one.lock);
    const std::lock_guard guard(lock_);
    if (free_.first == nullptr) free_ = std::exchange(one.slots, {});
    one.most = 2 * list_slots;
  }
  spread_.store(true, std::memory_order_relaxed);
}

/// The list is locked.
void slot_table::give_some(free_list& mine) noexcept {
  chain some = mine.slots.cut(list_slots);
  const std::lock_guard guard(lock_);
  while (some.first != nullptr) free_.push(*some.pop());
}

slot_table::~slot_table() {
  for (auto& one : chunks_) {
    chunk* const part = one.load();
    if (part == nullptr) return;
    // Futures may outlive their runtime; they still look into their slots. Orphans have none.
    std::size_t in_use = 0;
    for (call_slot& slot : part->slots) {
      slot.owner = nullptr;
      if (slot.state.load() != slot_state::free && !slot.orphan) ++in_use;
    }
    part->left_over.store(in_use);
    if (in_use == 0) delete part;
  }
}

void slot_table::release_left_over(call_slot& slot) noexcept {
  call_slot* const first = &slot - (slot.id.load(std::memory_order_relaxed) & index_mask) % chunk_slots;
  auto* const part = reinterpret_cast<chunk*>(first);
  if (part->left_over.fetch_sub(1) == 1) delete part;
}

}  // namespace ham::detail
