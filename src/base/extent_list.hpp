// Which parts of a range of memory are free, and which of them is taken next: first fit.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace ham::inline v1::base {

/// Offsets and sizes only: the memory itself may be anywhere. What is taken keeps its record, so that giving it back
/// needs no memory. One thread at a time.
class extent_list {
 public:
  /// These bytes are the list's, free or in use; nobody else has given any of them. Throw std::bad_alloc.
  void add_free(std::uint64_t offset, std::uint64_t size) { join(record_of(offset, size)); }
  void add_used(std::uint64_t offset, std::uint64_t size) { used_.emplace(offset, size); }

  /// The first of `size` bytes that are free; nothing if there is no such part. Throws std::bad_alloc.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size) {
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->second < size) continue;
      const std::uint64_t offset = at->first;
      if (at->second == size) {
        used_.insert(free_.extract(at));
        return offset;
      }
      used_.emplace(offset, size);
      auto rest = free_.extract(at);
      rest.key() += size;
      rest.mapped() -= size;
      free_.insert(std::move(rest));
      return offset;
    }
    return std::nullopt;
  }

  /// All that was taken with the byte at `offset` as its first is free again, joined with its free neighbours. Where
  /// nothing begins that is in use, nothing happens.
  void give(std::uint64_t offset) noexcept { join(used_.extract(offset)); }

 private:
  using records = std::map<std::uint64_t, std::uint64_t>;  // offset -> size

  [[nodiscard]] static records::node_type record_of(std::uint64_t offset, std::uint64_t size) {
    records one;
    one.emplace(offset, size);
    return one.extract(offset);
  }

  void join(records::node_type part) noexcept {
    if (part.empty()) return;
    auto next = free_.upper_bound(part.key());
    if (next != free_.end() && next->first == part.key() + part.mapped()) {
      part.mapped() += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == part.key()) {
        before->second += part.mapped();
        return;
      }
    }
    free_.insert(next, std::move(part));
  }

  records free_, used_;
};

}  // namespace ham::base
