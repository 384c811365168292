// The memory of a node that is memory of its device: what is allocated, and how bytes get there and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/arena_heap.hpp"
#include "runtime/device_copy_queue.hpp"
#include "runtime/device_rows.hpp"
#include "runtime/page_locks.hpp"
#include "runtime/peer_arenas.hpp"
#include "transport/device_memory.hpp"

namespace ham::inline v1::detail {

/// Copies go through staging memory in pieces, several under way at once: while the device works on one, the caller
/// fills or empties another. What is begun ends by itself. All members may be called from any thread.
class device_heap {
 public:
  /// Throws ham::config_error if the memory has nothing to stage in.
  explicit device_heap(std::unique_ptr<transport::device_memory> memory);
  device_heap(const device_heap&) = delete;
  device_heap& operator=(const device_heap&) = delete;

  [[nodiscard]] base::arena_heap& allocations() noexcept { return allocations_; }
  /// Whether the address is one of the device's memory.
  [[nodiscard]] bool contains(std::uint64_t address) const noexcept { return allocations_.contains(address); }
  /// The most bytes of one store or load.
  [[nodiscard]] std::size_t max_access() const noexcept { return copies_.piece_bytes(); }

  /// Begins to write, or to read, at most max_access() bytes; `bytes` may be changed on return. Waits while all staging
  /// memory is in use. Throw std::bad_alloc.
  void store(const device_rows& to, std::span<const std::byte> bytes, std::unique_ptr<device_access> after);
  void load(const device_rows& from, std::size_t bytes, std::unique_ptr<device_access> after);

  /// Begins to copy from or to memory of the process that the device copies directly (locks()), which is in use until
  /// it is over; `bytes` packed ones at `host`. Does not wait. Throws std::bad_alloc.
  void copy(const device_rows& where, transport::device_copy::direction which, std::byte* host, std::size_t bytes,
            std::unique_ptr<device_access> after);
  [[nodiscard]] page_locks& locks() noexcept { return locks_; }
  [[nodiscard]] const page_locks& locks() const noexcept { return locks_; }

  /// Begins to copy out of an arena of arenas(), which the caller keeps until it is over. Does not wait. Throws
  /// std::bad_alloc.
  void copy_from_peer(const transport::peer_copy& what, std::unique_ptr<device_access> after);
  [[nodiscard]] peer_arenas& arenas() noexcept { return arenas_; }
  /// A node is lost. Locks of the engine may be held.
  void forget_peer(node_t node) noexcept;

  // ---- what only can be done while the resident kernel is absent: pages and arenas
  [[nodiscard]] bool wants_absence() const noexcept { return locks_.wanted() || arenas_.wanted(); }
  /// Does it. The resident kernel is absent, and stays so meanwhile; one thread at a time.
  void use_absence() noexcept {
    locks_.lock_wanted();
    arenas_.open_wanted();
  }
  /// `then` is called when there is something of it to do; empty: nobody. On return no other one is being called.
  void on_absence_wanted(const std::function<void()>& then) {
    locks_.on_wanted(then);
    arenas_.on_wanted(then);
  }

  /// Any number of bytes, complete on return. Throw ham::call_error if the device fails, std::bad_alloc.
  void store_now(const device_rows& to, const std::byte* from, std::size_t bytes);
  void load_now(const device_rows& from, std::byte* to, std::size_t bytes);
  /// From the device to itself; the two may overlap.
  void copy_now(std::uint64_t to, std::uint64_t from, std::size_t bytes);
  /// Out of an arena of arenas(), which the caller keeps meanwhile.
  void copy_from_peer_now(const transport::peer_copy& what);
  /// Waits until all that has begun so far is over, well or not.
  void await_started() noexcept { copies_.await_started(); }

  /// In a child after fork: the thread is not here, and nothing ends any more.
  void detach_after_fork() noexcept { copies_.detach_after_fork(); }

 private:
  /// Until it has ended. Throws ham::call_error if it has failed.
  template <class Start>
  void start_and_wait(Start start);
  void throw_failure();

  const std::unique_ptr<transport::device_memory> memory_;
  page_locks locks_;
  peer_arenas arenas_;
  base::arena_heap allocations_;
  device_copy_queue copies_;  // ends before the others, whose thread may use them
};

}  // namespace ham::detail
