// The passive side's way to a one-sided ring: its own memory, without a medium in between.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transport/common/memory_access.hpp"

namespace ham::inline v1::transport {

class local_access {
 public:
  static constexpr bool in_place = true;
  /// `memory` is aligned to 64 bytes and outlives this.
  explicit local_access(std::byte* memory) noexcept : memory_(memory) {}

  [[nodiscard]] std::byte* at(std::uint64_t at) noexcept { return memory_ + at; }
  [[nodiscard]] std::uint64_t read_word(std::uint64_t at) noexcept { return word(at).load(std::memory_order_acquire); }
  void write_word(std::uint64_t at, std::uint64_t value) noexcept { word(at).store(value, std::memory_order_release); }
  void read_block(std::uint64_t at, std::byte* to, std::size_t size) noexcept { std::memcpy(to, memory_ + at, size); }
  void write_block(std::uint64_t at, const std::byte* from, std::size_t size) noexcept {
    std::memcpy(memory_ + at, from, size);
  }
  /// Devices see our stores only after a full fence on some hosts.
  void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
  [[nodiscard]] bool failed() const noexcept { return false; }

 private:
  [[nodiscard]] std::atomic<std::uint64_t>& word(std::uint64_t at) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_ + at);
  }
  std::byte* memory_;
};
static_assert(memory_access<local_access>);

}  // namespace ham::transport
