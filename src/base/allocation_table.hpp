// Which allocations of a heap live: by tag, by which others name them, and by address.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <new>
#include <vector>

namespace ham::inline v1::base {

/// Names one allocation for its whole life; 0 names none.
using allocation_tag = std::uint64_t;

enum class heap_check : std::uint8_t { valid, stale, out_of_range };

inline constexpr std::uint64_t heap_index_bits = 20;
/// The part of a tag that is used again once the allocation is freed: its place in a table.
[[nodiscard]] constexpr std::uint64_t index_of(allocation_tag tag) noexcept {
  return tag & ((std::uint64_t{1} << heap_index_bits) - 1);
}

/// Of memory that begins at one address and is never moved, whether this process can read it or not. One thread at a
/// time.
class allocation_table {
 public:
  struct record {
    allocation_tag tag = 0;
    std::uint64_t offset = 0;  ///< from the begin of the memory
    std::uint64_t size = 0;    ///< as asked for
    std::uint64_t extent = 0;  ///< as taken
  };

  explicit allocation_table(std::uint64_t begin) noexcept : begin_(begin) {}

  /// Throws std::bad_alloc if there are as many as there are indices.
  void require_room() const {
    if (free_indices_.empty() && records_.size() > index_of(UINT64_MAX)) throw std::bad_alloc();
  }
  /// Names an allocation, behind require_room().
  [[nodiscard]] allocation_tag add(std::uint64_t offset, std::uint64_t size, std::uint64_t extent) {
    std::uint64_t index = records_.size();
    if (free_indices_.empty()) {
      records_.emplace_back();
    } else {
      index = free_indices_.back();
      free_indices_.pop_back();
    }
    const allocation_tag tag = (++generation_ << heap_index_bits) | index;
    records_[index] = {tag, offset, size, extent};
    live_.emplace(offset, index);
    return tag;
  }
  /// The live allocation `tag`, if it begins at `address`, else nullptr.
  [[nodiscard]] const record* find(std::uint64_t address, allocation_tag tag) const noexcept {
    const record* const found = find(tag);
    return found != nullptr && begin_ + found->offset == address ? found : nullptr;
  }
  /// The live allocation `tag`.
  void remove(allocation_tag tag) {
    const std::uint64_t index = index_of(tag);
    live_.erase(records_[index].offset);
    records_[index] = {};
    free_indices_.push_back(static_cast<std::uint32_t>(index));
  }

  /// Whether [address, address + size) lies within the live allocation `tag`.
  [[nodiscard]] heap_check check(std::uint64_t address, allocation_tag tag, std::size_t size) const noexcept {
    const record* const found = find(tag);
    if (found == nullptr) return heap_check::stale;
    const std::uint64_t first = begin_ + found->offset;
    const bool inside = address >= first && address - first <= found->size && size <= found->size - (address - first);
    return inside ? heap_check::valid : heap_check::out_of_range;
  }
  /// Tag of the live allocation that contains `address`, or 0.
  [[nodiscard]] allocation_tag tag_of(std::uint64_t address) const noexcept {
    if (address < begin_) return 0;
    const auto after = live_.upper_bound(address - begin_);
    if (after == live_.begin()) return 0;
    const record& candidate = records_[std::prev(after)->second];
    return address - begin_ < candidate.offset + std::max<std::uint64_t>(candidate.size, 1) ? candidate.tag : 0;
  }
  [[nodiscard]] std::size_t live() const noexcept { return live_.size(); }

 private:
  [[nodiscard]] const record* find(allocation_tag tag) const noexcept {
    const std::uint64_t index = index_of(tag);
    if (tag == 0 || index >= records_.size() || records_[index].tag != tag) return nullptr;
    return &records_[index];
  }

  const std::uint64_t begin_;
  std::vector<record> records_;  // by index
  std::vector<std::uint32_t> free_indices_;
  std::map<std::uint64_t, std::uint64_t> live_;  // offset -> index
  std::uint64_t generation_ = 0;
};

}  // namespace ham::base
