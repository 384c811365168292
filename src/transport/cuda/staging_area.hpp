// Places for arguments in memory that was taken before the resident kernel began: while it is there, nothing may be
// allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <new>
#include <utility>

#include "ham/device/mailbox.hpp"

namespace ham::inline v0::transport::cuda {

/// First fit. The memory is the caller's, aligned to a line.
class staging_area {
 public:
  staging_area(std::byte* memory, std::size_t bytes) : memory_(memory) { free_.emplace(0, bytes); }

  /// Aligned to a line. Throws std::bad_alloc.
  [[nodiscard]] std::byte* take(std::size_t size) {
    const std::size_t lines = std::max<std::size_t>(size, 1) + device::detail::line_bytes - 1;
    const std::size_t extent = lines / device::detail::line_bytes * device::detail::line_bytes;
    const auto at = std::ranges::find_if(free_, [&](const auto& gap) { return gap.second >= extent; });
    if (at == free_.end()) throw std::bad_alloc();
    const auto [offset, length] = *at;
    free_.erase(at);
    if (length > extent) free_.emplace(offset + extent, length - extent);
    used_.emplace(offset, extent);
    return memory_ + offset;
  }
  /// What was not taken is ignored.
  void give(const std::byte* at) noexcept {
    const auto used = used_.find(static_cast<std::size_t>(at - memory_));
    if (used == used_.end()) return;
    auto place = used_.extract(used);
    auto next = free_.upper_bound(place.key());
    if (next != free_.end() && next->first == place.key() + place.mapped()) {
      place.mapped() += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == place.key())
      std::prev(next)->second += place.mapped();
    else
      free_.insert(std::move(place));
  }

 private:
  std::byte* memory_;
  std::map<std::size_t, std::size_t> free_, used_;  // offset -> length
};

}  // namespace ham::transport::cuda
