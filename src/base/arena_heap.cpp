#include "base/arena_heap.hpp"

#include <algorithm>
#include <new>

namespace ham::inline v1::base {

arena_heap::arena_heap(std::uint64_t address, std::uint64_t bytes) : address_(address), bytes_(bytes), table_(address) {
  if (bytes != 0) extents_.add_free(0, bytes);
}

arena_heap::allocation arena_heap::allocate(std::size_t size) {
  if (size > bytes_) throw std::bad_alloc();
  const std::uint64_t extent = (std::max<std::uint64_t>(size, 1) + alignment - 1) / alignment * alignment;
  std::lock_guard guard(mutex_);
  table_.require_room();
  const auto offset = extents_.take(extent);
  if (!offset) throw std::bad_alloc();
  return {address_ + *offset, table_.add(*offset, size, extent)};
}

bool arena_heap::free(std::uint64_t address, allocation_tag tag) {
  std::lock_guard guard(mutex_);
  const allocation_table::record* const found = table_.find(address, tag);
  if (found == nullptr) return false;
  const allocation_table::record freed = *found;
  table_.remove(tag);
  extents_.give(freed.offset);
  return true;
}

heap_check arena_heap::check(std::uint64_t address, allocation_tag tag, std::size_t size) const {
  std::lock_guard guard(mutex_);
  return table_.check(address, tag, size);
}

allocation_tag arena_heap::tag_of(std::uint64_t address) const {
  std::lock_guard guard(mutex_);
  return table_.tag_of(address);
}

std::size_t arena_heap::live() const {
  std::lock_guard guard(mutex_);
  return table_.live();
}

}  // namespace ham::base
