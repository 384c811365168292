#include "runtime/node_memory.hpp"

#include "runtime/device_heap.hpp"

namespace ham::inline v1::detail {

node_memory::allocation node_memory::allocate(std::size_t bytes) {
  if (device_ != nullptr) {
    const base::arena_heap::allocation got = device_->allocations().allocate(bytes);
    return {got.address, got.tag};
  }
  const base::heap::allocation got = own_->allocate(bytes);
  return {reinterpret_cast<std::uintptr_t>(got.address), got.tag};
}

bool node_memory::free(std::uint64_t address, base::allocation_tag tag) {
  return device_ != nullptr ? device_->allocations().free(address, tag) : own_->free(address, tag);
}

base::heap_check node_memory::check(std::uint64_t address, base::allocation_tag tag, std::size_t bytes) const {
  return device_ != nullptr ? device_->allocations().check(address, tag, bytes) : own_->check(address, tag, bytes);
}

base::allocation_tag node_memory::tag_of(std::uint64_t address) const {
  return device_ != nullptr ? device_->allocations().tag_of(address) : own_->tag_of(address);
}

}  // namespace ham::detail
