// The table of pending calls: preallocated in chunks, found by id in two array accesses.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "base/biased_lock.hpp"
#include "base/renew.hpp"
#include "ham/offload/detail/slot.hpp"

namespace ham::inline v1::detail {

class slot_table {
 public:
  static constexpr unsigned index_bits = 20;
  static constexpr std::uint32_t index_mask = (1U << index_bits) - 1;
  static constexpr std::size_t chunk_slots = 1024;
  static constexpr std::size_t max_chunks = (std::size_t{1} << index_bits) / chunk_slots;

  explicit slot_table(engine* owner) : owner_(owner) {}
  ~slot_table();
  slot_table(const slot_table&) = delete;
  slot_table& operator=(const slot_table&) = delete;

  /// A free slot, or nullptr if a million calls are pending. State and contents are the caller's to set.
  [[nodiscard]] call_slot* claim() {
    lock_.lock();
    if (free_ == nullptr && !grow_or_unlock()) [[unlikely]]
      return nullptr;
    call_slot* slot = free_;
    free_ = reinterpret_cast<call_slot*>(slot->then);
    slot->then = nullptr;
    lock_.unlock();
    return slot;
  }

  /// In a child after fork: whoever held the lock is not there.
  void renew_lock() noexcept { base::renew(lock_); }

  /// Takes back a slot whose table has gone: the last one of a chunk takes the chunk along.
  static void release_left_over(call_slot& slot) noexcept;

  /// Takes a slot back; its id never names it again until the generation wraps.
  void release(call_slot& slot) noexcept {
    slot.state.store(slot_state::free, std::memory_order_relaxed);
    slot.orphan = false;
    slot.fault = 0;
    slot.reply_due.store(false, std::memory_order_relaxed);
    lock_.lock();
    slot.id.store(slot.id.load(std::memory_order_relaxed) + (1U << index_bits), std::memory_order_relaxed);
    slot.then = reinterpret_cast<continuation*>(free_);
    free_ = &slot;
    lock_.unlock();
  }

  /// The slot of an id from a peer, or nullptr.
  [[nodiscard]] call_slot* find(std::uint32_t id) const noexcept {
    call_slot* const slot = at_index_of(id);
    return slot != nullptr && slot->id.load(std::memory_order_relaxed) == id ? slot : nullptr;
  }
  /// The slot at the index of an id from a peer, whatever its generation; or nullptr.
  [[nodiscard]] call_slot* at_index_of(std::uint32_t id) const noexcept {
    const std::uint32_t index = id & index_mask;
    chunk* const part = chunks_[index / chunk_slots].load(std::memory_order_acquire);
    return part == nullptr ? nullptr : &part->slots[index % chunk_slots];
  }

  /// Calls visit(slot) for every slot that ever was in use.
  template <class Visit>
  void for_each(Visit visit) {
    for (auto& one : chunks_) {
      chunk* const part = one.load(std::memory_order_acquire);
      if (part == nullptr) return;
      for (call_slot& slot : part->slots) visit(slot);
    }
  }

 private:
  struct chunk {
    std::array<call_slot, chunk_slots> slots;  // first: a slot's place in it follows from its id
    std::atomic<std::size_t> left_over{0};     // slots in use by futures that outlive the table
  };

  bool grow();
  bool grow_or_unlock();

  engine* owner_;
  base::biased_lock lock_;
  call_slot* free_ = nullptr;
  std::size_t used_chunks_ = 0;
  std::array<std::atomic<chunk*>, max_chunks> chunks_{};
};

}  // namespace ham::detail
