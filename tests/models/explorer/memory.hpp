// The memory that the threads of a model share: every atomic object has the history of its values, in modification
// order, and every thread a view of how much of it the thread must have seen.
//
// This is the repaired C++11 model (RC11) as an abstract machine: release/acquire, relaxed, fences, release sequences
// through read-modify-writes, stores that enter the modification order behind what their thread has seen, be it before
// what others have stored. What it leaves out is said in docs/testing.md.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "explorer/engine.hpp"

namespace model {

inline constexpr unsigned max_locations = 250;

/// How many steps of each thread happen before what follows: for the race detector.
using clock_vector = std::array<std::uint32_t, max_threads>;

/// Per location the latest message that must have been seen, and what happens before.
struct view {
  std::array<std::uint8_t, max_locations> seen{};
  clock_vector clock{};
};

/// One value of a location.
struct message {
  std::uint64_t value = 0;
  view brings;            ///< what an acquiring reader learns
  bool followed = false;  ///< a read-modify-write has read it: nothing may come between the two
};

struct location {
  const void* address = nullptr;
  unsigned size = 0;
  unsigned index = 0;
  std::vector<message> messages;     ///< as they were made; [0] is the initial value
  std::vector<std::uint8_t> order;   ///< the modification order, of indices of messages
  std::vector<std::uint8_t> places;  ///< of each message in it
  clock_vector plain_writes{}, plain_reads{}, atomic_writes{}, atomic_reads{};
  [[nodiscard]] const message& newest() const noexcept { return messages[order.back()]; }
};

/// What one thread has seen.
struct thread_views {
  view current;   ///< binds its next access
  view acquired;  ///< what an acquire fence would bring
  view released;  ///< what its relaxed stores bring: everything before its last release fence
  view light;     ///< before its last light fence
  view heavy;     ///< what heavy fences of others bring at its next light fence
};

enum class access : std::uint8_t { atomic_read, atomic_write, plain_read, plain_write };

class memory {
 public:
  /// Which of `count` possibilities comes true.
  using chooser = std::function<unsigned(unsigned count)>;
  explicit memory(chooser choose) : choose_(std::move(choose)) {}

  void clear();
  /// A location may have no room for another store.
  [[nodiscard]] bool is_full() const noexcept { return full_; }
  /// The location of an object, known from now on.
  [[nodiscard]] location& at(const void* address, unsigned size);
  [[nodiscard]] location* known(const void* address);

  /// Index of the message that is read.
  unsigned load(unsigned thread, location& from, std::memory_order order);
  void store(unsigned thread, location& to, std::uint64_t value, std::memory_order order);
  /// Writes behind all others, without a choice: plain memory, and the kernel.
  void append(unsigned thread, location& to, std::uint64_t value, std::memory_order order);
  /// The messages that a load of the thread may read, the newest first.
  [[nodiscard]] std::vector<unsigned> readable(unsigned thread, const location& from, std::memory_order order) const;
  void take(unsigned thread, location& from, unsigned read, std::memory_order order);
  /// A read-modify-write that has read that message.
  void update(unsigned thread, location& to, unsigned read, std::uint64_t value, std::memory_order order);
  void fence(unsigned thread, std::memory_order order);
  void light_fence(unsigned thread);
  /// The part of a heavy fence of `thread` that concerns `other`; before and after all of them a fence is due.
  void heavy_fence_with(unsigned thread, unsigned other, const view& before);

  /// Whether the access races with an earlier one. A thread's own clock must have been advanced for the step.
  [[nodiscard]] bool races(unsigned thread, location& with, access what);

  void join(view& into, const view& from, bool clocks = true) const;
  /// Of all that may still matter to the threads in `live` (bits), and of `others`: two states of equal hash go on
  /// alike.
  [[nodiscard]] std::uint64_t hash(unsigned live, const std::vector<std::pair<const void*, const view*>>& others);
  [[nodiscard]] std::vector<location*>& locations() noexcept { return used_; }

  std::array<thread_views, max_threads> threads;

 private:
  [[nodiscard]] unsigned floor(unsigned thread, const location& of, std::memory_order order) const;
  message& insert(unsigned thread, location& to, unsigned place, std::uint64_t value, std::memory_order order);
  [[nodiscard]] std::uint64_t hash_of(const view& of, const view& lowest) const;
  [[nodiscard]] std::uint64_t hash_of(const location& of, const view& lowest) const;
  void rank_accesses(const view& lowest);
  [[nodiscard]] std::size_t slot_of(const void* address) const;

  static constexpr std::size_t table_slots = 1024;
  chooser choose_;
  bool full_ = false;
  view sequential_;  ///< of sequentially consistent fences and accesses
  std::vector<location*> used_;
  std::vector<std::unique_ptr<location>> pool_;
  std::array<std::vector<std::uint32_t>, max_threads> epochs_;  ///< of accesses that something may still race with
  std::array<std::uint16_t, table_slots> table_{};              ///< place in used_ plus 1, by address
};

[[nodiscard]] std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept;
[[nodiscard]] constexpr bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
[[nodiscard]] constexpr bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

}  // namespace model
