// The memory that both ends of an emulated link map: a one-sided ring, and for each of its words when it arrives.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/common/one_sided_layout.hpp"

namespace ham::inline v1::transport::emulated {

/// Views of a mapped segment.
struct segment {
  std::byte* memory = nullptr;
  one_sided_layout layout;

  [[nodiscard]] static constexpr std::size_t bytes(const one_sided_layout& layout) noexcept {
    return layout.bytes() + layout.word_bytes();
  }
  [[nodiscard]] std::atomic<std::uint64_t>& word(std::uint64_t at) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory + at);
  }
  /// base::now_ns() at which the word at `at` is there for the passive side.
  [[nodiscard]] std::atomic<std::int64_t>& due(std::uint64_t at) const noexcept {
    return *reinterpret_cast<std::atomic<std::int64_t>*>(memory + layout.bytes() + at);
  }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::int64_t>) == 8);

}  // namespace ham::transport::emulated
