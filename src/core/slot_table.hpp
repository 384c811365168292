// The table of pending calls: preallocated in chunks, found by id in two array accesses.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/biased_lock.hpp"
#include "base/cpu.hpp"
#include "base/renew.hpp"
#include "base/thread_identity.hpp"
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

  /// A free slot, or nullptr if a million calls are pending. State and contents are the caller's to set. Throws
  /// std::bad_alloc.
  [[nodiscard]] call_slot* claim() {
    free_list& mine = list_of_thread();
    mine.lock.lock();
    if (mine.slots.first == nullptr) [[unlikely]]
      return claim_of_others(mine);
    call_slot* const slot = mine.slots.pop();
    mine.lock.unlock();
    return slot;
  }

  /// In a child after fork: whoever held the lock is not there.
  void renew_lock() noexcept {
    base::renew(lock_);
    for (free_list& one : lists_) base::renew(one.lock);
  }

  /// Takes back a slot whose table has gone: the last one of a chunk takes the chunk along.
  static void release_left_over(call_slot& slot) noexcept;

  /// Takes a slot back; its id never names it again until the generation wraps.
  void release(call_slot& slot) noexcept {
    slot.state.store(slot_state::free, std::memory_order_relaxed);
    slot.orphan = false;
    slot.fault = 0;
    slot.reply_due.store(false, std::memory_order_relaxed);
    free_list& mine = list_of_thread();
    mine.lock.lock();
    slot.id.store(slot.id.load(std::memory_order_relaxed) + (1U << index_bits), std::memory_order_relaxed);
    mine.slots.push(slot);
    if (mine.slots.count > mine.most) [[unlikely]]
      give_some(mine);
    mine.lock.unlock();
  }
  /// From now on threads have lists of free slots of their own, as long as there are not too many threads. Before, all
  /// use one.
  void spread() noexcept;

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

  static constexpr std::size_t lists = 16;       ///< a power of two
  static constexpr std::size_t list_slots = 32;  ///< move between a list and the others at a time

  /// Slots that are linked by what follows them.
  struct chain {
    call_slot* first = nullptr;
    std::size_t count = 0;

    void push(call_slot& slot) noexcept {
      slot.then = reinterpret_cast<continuation*>(first);
      first = &slot;
      ++count;
    }
    call_slot* pop() noexcept {
      call_slot* const slot = first;
      first = reinterpret_cast<call_slot*>(slot->then);
      slot->then = nullptr;
      --count;
      return slot;
    }
    /// The first ones, in their order.
    chain cut(std::size_t most) noexcept;
  };
  struct alignas(base::cache_line_bytes) free_list {
    base::biased_lock lock;
    chain slots;
    std::size_t most = SIZE_MAX;  ///< more are given to the others
  };

  [[nodiscard]] free_list& list_of_thread() noexcept {
    if (!spread_.load(std::memory_order_relaxed)) [[likely]]
      return lists_[0];
    return lists_[base::thread_number() % lists];
  }
  bool grow();
  call_slot* claim_of_others(free_list& mine);
  void give_some(free_list& mine) noexcept;

  engine* owner_;
  std::atomic<bool> spread_{false};
  std::array<free_list, lists> lists_;
  base::biased_lock lock_;  ///< of what follows; taken behind that of a list
  chain free_;              ///< in none of the lists
  std::size_t used_chunks_ = 0;
  std::array<std::atomic<chunk*>, max_chunks> chunks_{};
};

}  // namespace ham::detail
