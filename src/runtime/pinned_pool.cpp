#include "runtime/pinned_pool.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace ham::inline v1::detail {
namespace {

[[nodiscard]] constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t to) noexcept {
  return (value + to - 1) / to * to;
}

}  // namespace

/// The end of an array.
class pinned_pool::lease {
 public:
  lease(std::shared_ptr<pinned_pool> of, std::uint64_t address) noexcept : of_(std::move(of)), address_(address) {}
  ~lease() { of_->give(address_); }
  lease(const lease&) = delete;
  lease& operator=(const lease&) = delete;

 private:
  const std::shared_ptr<pinned_pool> of_;
  const std::uint64_t address_;
};

/// The lock is held.
std::uint64_t pinned_pool::take(std::uint64_t extent, block*& in) {
  for (block& one : blocks_) {
    if (const auto offset = one.extents.take(extent)) {
      in = &one;
      return one.address + *offset;
    }
  }
  const std::uint64_t bytes = std::max<std::uint64_t>(min_block_bytes, rounded_up(extent, page_bytes));
  std::list<block> fresh(1);
  block& one = fresh.front();
  one.extents.add_free(0, bytes);
  const base::heap::allocation got = heap_->allocate(bytes + page_bytes);
  one.address = rounded_up(reinterpret_cast<std::uintptr_t>(got.address), page_bytes);
  one.bytes = bytes;
  one.tag = got.tag;
  blocks_.splice(blocks_.end(), fresh);
  in = &one;
  return one.address + one.extents.take(extent).value();
}

std::shared_ptr<std::byte> pinned_pool::allocate(std::size_t bytes) {
  constexpr std::size_t max_bytes = SIZE_MAX / 2;
  if (bytes > max_bytes) throw std::bad_alloc();
  const std::uint64_t extent = rounded_up(std::max<std::uint64_t>(bytes, 1), alignment);
  std::uint64_t address = 0;
  {
    std::lock_guard guard(mutex_);
    block* in = nullptr;
    address = take(extent, in);
    try {
      arrays_.emplace(address, array{bytes, in, {}});
    } catch (...) {
      in->extents.give(address - in->address);
      throw;
    }
  }
  std::shared_ptr<lease> owner;
  try {
    owner = std::make_shared<lease>(shared_from_this(), address);
  } catch (...) {
    give(address);
    throw;
  }
  std::shared_ptr<std::byte> held(std::move(owner), reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address)));
  std::lock_guard guard(mutex_);
  arrays_.at(address).held = held;
  return held;
}

void pinned_pool::give(std::uint64_t address) noexcept {
  std::lock_guard guard(mutex_);
  const auto found = arrays_.find(address);
  if (found == arrays_.end()) return;
  found->second.in->extents.give(address - found->second.in->address);
  arrays_.erase(found);
}

pinned_pool::place pinned_pool::find(const std::byte* from, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  std::lock_guard guard(mutex_);
  auto at = arrays_.upper_bound(address);
  if (at == arrays_.begin()) return {};
  --at;
  const array& one = at->second;
  const std::uint64_t before = address - at->first;
  if (before > one.bytes || bytes > one.bytes - before) return {};
  place result;
  result.array = one.held.lock();  // empty: it is just being freed
  if (result.array == nullptr) return {};
  result.block = one.in->address;
  result.tag = one.in->tag;
  result.block_bytes = one.in->bytes;
  result.offset = address - one.in->address;
  return result;
}

}  // namespace ham::detail
