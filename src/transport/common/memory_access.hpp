// What the one-sided ring asks of a medium: words and blocks of a memory that both sides agree on, and their order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace ham::inline v1::transport {

// clang-format off: version 14 does not know requirements
/// The side that owns the memory: its accesses are loads and stores.
template <class T>
concept near_memory = bool(T::in_place) && requires(T& here, std::uint64_t at) {
  { here.at(at) }
  noexcept->std::same_as<std::byte*>;
};

/// The other side: each access goes over the medium. Messages are built in, and read into, memory that stage()
/// gives: of this side, aligned to 64 bytes, kept as long as the access.
template <class T>
concept far_memory = !bool(T::in_place) && requires(T & there, std::size_t size) {
  { there.stage(size) } -> std::same_as<std::byte*>;
};

/// One side's way to the memory that a one-sided ring lives in. Offsets are from its begin; words are of 64 bits,
/// aligned, little-endian, and never torn. Used by a sending and a receiving thread at the same time.
///
/// A write may be posted, which is to say still under way when the function returns; the side in place reads a word
/// that is under way as 0. What stands before fence() is seen by whoever sees what stands behind it. After failed() a
/// read gives 0 and a write does nothing.
template <class T>
concept memory_access = (near_memory<T> || far_memory<T>)&&requires(T& there, std::uint64_t at, std::uint64_t word,
                                                                    std::byte* to, const std::byte* from,
                                                                    std::size_t size) {
  { there.read_word(at) }
  noexcept->std::same_as<std::uint64_t>;
  { there.write_word(at, word) }
  noexcept;
  { there.read_block(at, to, size) }
  noexcept;
  { there.write_block(at, from, size) }
  noexcept;
  { there.fence() }
  noexcept;
  { there.failed() }
  noexcept->std::same_as<bool>;
};
// clang-format on

/// Up to so many bytes a block is written by word stores, where they are at hand beside a DMA engine: SHM is quicker
/// than user DMA for them (paper 1, V-B).
inline constexpr std::size_t max_stored_bytes = 256;

/// Stages for a medium that takes any memory.
class ordinary_stages {
 public:
  [[nodiscard]] std::byte* stage(std::size_t size) {
    stages_.emplace_back(static_cast<std::byte*>(::operator new (size, std::align_val_t{64})));
    return stages_.back().get();
  }

 private:
  struct give_back {
    void operator()(std::byte* memory) const noexcept { ::operator delete (memory, std::align_val_t{64}); }
  };
  std::vector<std::unique_ptr<std::byte, give_back>> stages_;
};

}  // namespace ham::transport
