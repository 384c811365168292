// The part of a node's memory that pinned<T> takes its arrays from: devices of other processes copy from and to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/extent_list.hpp"
#include "base/heap.hpp"

namespace ham::inline v1::detail {

/// Arrays in a few large blocks of the node's heap. A driver page-locks a block once, and until its process ends: so
/// blocks stay, and what was freed is used again for later arrays. All members may be called from any thread.
class pinned_pool : public std::enable_shared_from_this<pinned_pool> {
 public:
  static constexpr std::size_t page_bytes = 4096;
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t min_block_bytes = std::size_t{4} << 20;

  /// Made by std::make_shared.
  explicit pinned_pool(std::shared_ptr<base::heap> from) : heap_(std::move(from)) {}

  /// `bytes` bytes, not initialised. They are free again when all copies of the pointer are gone; it may outlive the
  /// node. Throws std::bad_alloc, and ham::config_error as base::heap::allocate.
  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes);

  /// Where bytes of a live array lie, as the process of a device is told it.
  struct place {
    std::shared_ptr<std::byte> array;  ///< empty: they are not all of one live array
    std::uint64_t block = 0;           ///< address of whole pages in the heap
    std::uint64_t tag = 0;
    std::uint64_t block_bytes = 0;
    std::uint64_t offset = 0;  ///< of the bytes in the block
  };
  [[nodiscard]] place find(const std::byte* from, std::size_t bytes);

 private:
  struct block {
    std::uint64_t address = 0, bytes = 0, tag = 0;
    base::extent_list extents;
  };
  struct array {
    std::uint64_t bytes;
    block* in;
    std::weak_ptr<std::byte> held;
  };
  class lease;

  [[nodiscard]] std::uint64_t take(std::uint64_t extent, block*& in);
  void give(std::uint64_t address) noexcept;

  const std::shared_ptr<base::heap> heap_;
  std::mutex mutex_;
  std::list<block> blocks_;
  std::map<std::uint64_t, array> arrays_;  // address -> what is there
};

}  // namespace ham::detail
