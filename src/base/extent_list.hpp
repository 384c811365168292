// The free parts of a range of memory, and which of them is taken next: first fit.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace ham::inline v0::base {

/// Offsets and sizes only: the memory itself may be anywhere. One thread at a time.
class extent_list {
 public:
  /// The first of `size` bytes that are free; nothing if there is no such part.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size) {
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->second < size) continue;
      const auto [offset, extent] = *at;
      free_.erase(at);
      if (extent > size) free_.emplace(offset + size, extent - size);
      return offset;
    }
    return std::nullopt;
  }
  /// These bytes are free (again). Joins them with their free neighbours.
  void give(std::uint64_t offset, std::uint64_t size) {
    auto next = free_.upper_bound(offset);
    if (next != free_.end() && next->first == offset + size) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += size;
        return;
      }
    }
    free_.emplace(offset, size);
  }

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  // offset -> size
};

}  // namespace ham::base
