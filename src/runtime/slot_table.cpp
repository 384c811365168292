// Growth and end of the table of pending calls.
#include "runtime/slot_table.hpp"

namespace ham::detail {

bool slot_table::grow() {
  // The very last id means "no reply" on the wire, so the last chunk is never used.
  if (used_chunks_ + 1 >= most_chunks) return false;
  auto* const slots = new call_slot[chunk_slots];
  const auto first = static_cast<std::uint32_t>(used_chunks_ * chunk_slots);
  for (std::size_t i = chunk_slots; i-- > 0;) {
    slots[i].id = first + static_cast<std::uint32_t>(i);
    slots[i].owner = owner_;
    slots[i].then = reinterpret_cast<continuation*>(free_);
    free_ = &slots[i];
  }
  chunks_[used_chunks_++].store(slots, std::memory_order_release);
  return true;
}

slot_table::~slot_table() {
  for (auto& chunk : chunks_) {
    call_slot* slots = chunk.load();
    if (slots == nullptr) return;
    bool in_use = false;
    for (std::size_t i = 0; i < chunk_slots; ++i) {
      slots[i].owner = nullptr;
      in_use = in_use || slots[i].state.load() != slot_state::free;
    }
    // Futures that outlive their runtime still look into their slots; those chunks are left to them.
    if (!in_use) delete[] slots;
  }
}

}  // namespace ham::detail
