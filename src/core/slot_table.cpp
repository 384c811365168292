// Growth and end of the table of pending calls.
#include "core/slot_table.hpp"

namespace ham::inline v1::detail {

bool slot_table::grow() {
  // The very last id means "no reply" on the wire, so the last chunk is never used.
  if (used_chunks_ + 1 >= max_chunks) return false;
  auto* const part = new chunk;
  const auto first = static_cast<std::uint32_t>(used_chunks_ * chunk_slots);
  for (std::size_t i = chunk_slots; i-- > 0;) {
    call_slot& slot = part->slots[i];
    slot.id.store(first + static_cast<std::uint32_t>(i), std::memory_order_relaxed);
    slot.owner = owner_;
    slot.then = reinterpret_cast<continuation*>(free_);
    free_ = &slot;
  }
  chunks_[used_chunks_++].store(part, std::memory_order_release);
  return true;
}

bool slot_table::grow_or_unlock() {
  try {
    if (grow()) return true;
  } catch (const std::bad_alloc&) {
    lock_.unlock();
    throw;
  }
  lock_.unlock();
  return false;
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
