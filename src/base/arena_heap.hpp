// Allocations in memory of a fixed size that this process need not reach: a device's. Only addresses are kept here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/allocation_table.hpp"
#include "base/extent_list.hpp"

namespace ham::inline v1::base {

/// First fit. Thread-safe.
class arena_heap {
 public:
  static constexpr std::uint64_t alignment = 256;  ///< what cudaMalloc gives

  struct allocation {
    std::uint64_t address;
    allocation_tag tag;
  };

  /// Of [address, address + bytes), which stays the caller's; aligned to `alignment`.
  arena_heap(std::uint64_t address, std::uint64_t bytes);

  /// `size` bytes, aligned to `alignment`, not initialised. Throws std::bad_alloc if no part of the arena is that long.
  [[nodiscard]] allocation allocate(std::size_t size);
  /// False if `tag` does not name a live allocation that begins at `address`.
  [[nodiscard]] bool free(std::uint64_t address, allocation_tag tag);
  /// Whether [address, address + size) lies within the live allocation `tag`.
  [[nodiscard]] heap_check check(std::uint64_t address, allocation_tag tag, std::size_t size) const;
  /// Tag of the live allocation that contains `address`, or 0.
  [[nodiscard]] allocation_tag tag_of(std::uint64_t address) const;
  /// Where the arena begins.
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  /// Whether the address is one of the arena, allocated or not.
  [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
    return address >= address_ && address - address_ < bytes_;
  }
  [[nodiscard]] std::size_t live() const;

 private:
  const std::uint64_t address_;
  const std::uint64_t bytes_;
  mutable std::mutex mutex_;
  allocation_table table_;
  extent_list extents_;
};

}  // namespace ham::base
