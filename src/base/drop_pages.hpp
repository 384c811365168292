// Gives physical memory back without freeing addresses: whoever still writes there harms nobody.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ham::inline v1::base {

/// The whole pages of private memory in `of` read as zeros from now on.
inline void drop_pages(std::span<std::byte> of) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(of.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(of.data() + of.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace ham::base
