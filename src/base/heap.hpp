// Memory of a node for offload::allocate: a growing memfd that peers on the same machine map, with a table of
// allocations in it by which they check every access themselves.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/allocation_table.hpp"
#include "base/extent_list.hpp"
#include "base/memory_file.hpp"

namespace ham::inline v1::base {

/// Start of the file, shared; fixed-width fields.
struct heap_header {
  std::atomic<std::uint64_t> owner_base;  ///< address of this header in the owning process
};

/// One allocation as peers see it. The owner trusts its private copy only.
struct heap_entry {
  std::atomic<std::uint64_t> tag;
  std::atomic<std::uint64_t> offset;  ///< from the start of the file
  std::atomic<std::uint64_t> size;
};

// The owner and its peers may be of different compilers and instruction sets.
static_assert(sizeof(heap_header) == 8 && sizeof(heap_entry) == 24);
static_assert(offsetof(heap_entry, offset) == 8 && offsetof(heap_entry, size) == 16);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::uint64_t heap_table_offset = 4096;
inline constexpr std::uint64_t heap_data_offset = heap_table_offset +
                                                  (std::uint64_t{1} << heap_index_bits) * sizeof(heap_entry) + 4096 -
                                                  ((std::uint64_t{1} << heap_index_bits) * sizeof(heap_entry)) % 4096;

/// The owner's side. Thread-safe.
class heap {
 public:
  struct allocation {
    void* address;
    allocation_tag tag;
  };

  /// A file that a heap can live in.
  [[nodiscard]] static unique_fd make_file();
  /// Takes the file over. Throws ham::config_error.
  explicit heap(unique_fd file);

  /// `size` bytes, aligned to 64, not initialised. Throws std::bad_alloc; ham::config_error beyond the limit of file
  /// sizes.
  [[nodiscard]] allocation allocate(std::size_t size);
  /// False if `tag` does not name a live allocation that begins at `address`.
  [[nodiscard]] bool free(std::uint64_t address, allocation_tag tag);
  /// Whether [address, address + size) lies within the live allocation `tag`.
  [[nodiscard]] heap_check check(std::uint64_t address, allocation_tag tag, std::size_t size) const;
  /// Tag of the live allocation that contains `address`, or 0.
  [[nodiscard]] allocation_tag tag_of(std::uint64_t address) const;

  [[nodiscard]] int fd() const noexcept { return file_.get(); }
  /// Where the file begins in this process, its header first.
  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(window_.data()); }
  [[nodiscard]] std::size_t live() const;

 private:
  std::uint64_t take_extent(std::uint64_t size);
  void give_extent(std::uint64_t offset, std::uint64_t size) noexcept;
  [[nodiscard]] heap_entry& entry(std::uint64_t index) const noexcept;

  unique_fd file_;
  mapping window_;
  mutable std::mutex mutex_;
  allocation_table table_;
  extent_list extents_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t end_ = heap_data_offset;  // of what was ever taken
};

/// A peer's view of another process's heap. Thread-safe.
class heap_view {
 public:
  explicit heap_view(unique_fd file);
  /// Where [address, address + size) of the owner is mapped here, or nullptr; `why` says what is wrong.
  [[nodiscard]] std::byte* translate(std::uint64_t address, allocation_tag tag, std::size_t size, heap_check& why);

 private:
  /// A window of at least `bytes` bytes, or nullptr.
  const mapping* reach(std::uint64_t bytes);

  unique_fd file_;
  std::mutex mutex_;
  std::deque<mapping> windows_;  // each longer than the one before; the first comes with the first access
  std::atomic<const mapping*> window_{nullptr};  // the last one
  std::atomic<std::uint64_t> known_bytes_{0};
};

}  // namespace ham::base
