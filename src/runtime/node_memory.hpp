// The memory of a node, and how it reaches that of others.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/heap.hpp"
#include "core/peer.hpp"
#include "core/started_transfers.hpp"
#include "core/transfer_queue.hpp"
#include "runtime/pinned_pool.hpp"

namespace ham::inline v1::detail {

class device_heap;

/// All members may be called from any thread.
class node_memory {
 public:
  /// `owner`: what the thread of transfers works for.
  node_memory(engine* owner, std::unique_ptr<base::heap> own)
      : own_(std::move(own)), pinned_(std::make_shared<pinned_pool>(own_)), transfers_(owner), started_(owner) {}

  /// Memory of the process, which peers of this machine may map.
  [[nodiscard]] base::heap& own() noexcept { return *own_; }
  /// The part of it that devices of other processes copy from and to.
  [[nodiscard]] pinned_pool& pinned() noexcept { return *pinned_; }
  /// From now on the node allocates memory of its device. Before the first call arrives.
  void use_device(std::shared_ptr<device_heap> memory) noexcept { device_ = std::move(memory); }
  /// nullptr: it allocates memory of the process.
  [[nodiscard]] device_heap* device() const noexcept { return device_.get(); }
  /// What transports offer to peers that they serve; nullptr: nothing.
  [[nodiscard]] base::heap* reachable() noexcept { return device_ == nullptr ? own_.get() : nullptr; }

  // ---- what other nodes may name by address and tag, wherever it lies: as those of base::heap
  struct allocation {
    std::uint64_t address;
    base::allocation_tag tag;
  };
  [[nodiscard]] allocation allocate(std::size_t bytes);
  [[nodiscard]] bool free(std::uint64_t address, base::allocation_tag tag);
  [[nodiscard]] base::heap_check check(std::uint64_t address, base::allocation_tag tag, std::size_t bytes) const;
  [[nodiscard]] base::allocation_tag tag_of(std::uint64_t address) const;

  /// Without it put and get go in messages. Before the first access.
  void set_one_sided(bool on) noexcept { one_sided_ = on; }
  [[nodiscard]] bool one_sided() const noexcept { return one_sided_; }
  /// One-sided access to the memory of a connected node for the calling thread, or nullptr. Stays as long as `who`.
  [[nodiscard]] transport::remote_memory* of(const peer& who) const noexcept {
    return one_sided_ && who.memory != nullptr && who.memory->open_to_me() ? who.memory.get() : nullptr;
  }
  /// Accesses to the memory of other nodes that go on beside their callers.
  [[nodiscard]] transfer_queue& transfers() noexcept { return transfers_; }
  /// The same of memory whose transport moves them by itself.
  [[nodiscard]] started_transfers& started() noexcept { return started_; }
  [[nodiscard]] bool has_started() const noexcept { return started_.busy(); }
  void move_started_on() noexcept {
    if (has_started()) [[unlikely]]
      started_.poll();
  }

  void count_put(std::size_t bytes) noexcept { bytes_put_.fetch_add(bytes, std::memory_order_relaxed); }
  void count_got(std::size_t bytes) noexcept { bytes_got_.fetch_add(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes_put() const noexcept { return bytes_put_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes_got() const noexcept { return bytes_got_.load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<base::heap> own_;
  const std::shared_ptr<pinned_pool> pinned_;
  std::shared_ptr<device_heap> device_;
  transfer_queue transfers_;
  started_transfers started_;
  bool one_sided_ = true;
  std::atomic<std::uint64_t> bytes_put_{0}, bytes_got_{0};
};

}  // namespace ham::detail
