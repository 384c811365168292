// Asking for large pages where much memory is about to be written for the first time.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace ham::inline v1::base {

/// Below this it is not worth a system call.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// A hint for private memory that was allocated but not written: first writes then take one fault per large page and
/// not one per small one, which costs more than the copy that follows. Does nothing for less than two large pages.
inline void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  if (bytes < 2 * huge_page_bytes) return;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + huge_page_bytes - 1) & ~(huge_page_bytes - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(huge_page_bytes - 1);
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace ham::base
