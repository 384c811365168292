// Places for arguments in memory that was taken before the resident kernel began: while it is there, nothing may be
// allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include "base/extent_list.hpp"
#include "ham/device/mailbox.hpp"

namespace ham::inline v1::transport::cuda {

/// First fit, in whole lines. The memory is the caller's, aligned to a line. One thread at a time.
class staging_area {
 public:
  staging_area(std::byte* memory, std::size_t bytes) : memory_(memory) {
    if (bytes != 0) extents_.add_free(0, bytes);
  }

  /// Aligned to a line. Throws std::bad_alloc.
  [[nodiscard]] std::byte* take(std::size_t size) {
    const std::size_t lines = std::max<std::size_t>(size, 1) + device::detail::line_bytes - 1;
    const auto offset = extents_.take(lines / device::detail::line_bytes * device::detail::line_bytes);
    if (!offset) throw std::bad_alloc();
    return memory_ + *offset;
  }
  /// What was not taken is ignored.
  void give(const std::byte* at) noexcept { extents_.give(static_cast<std::size_t>(at - memory_)); }

 private:
  std::byte* memory_;
  base::extent_list extents_;
};

}  // namespace ham::transport::cuda
