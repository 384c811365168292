// What the one-sided ring asks of a medium: words and blocks of a memory that both sides agree on, and their order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace ham::transport {

/// One side's way to the memory that a one-sided ring lives in. Offsets are from its begin; words are of 64 bits,
/// aligned, little-endian, and never torn. Used by a sending and a receiving thread at the same time.
///
/// The side that owns the memory has it in_place: its accesses are loads and stores. For the other side each is a
/// journey over the medium. A write may be posted, which is to say still under way when the function returns; the side
/// in place reads a word that is under way as 0. What stands before fence() is seen by whoever sees what stands behind
/// it. After failed() a read gives 0 and a write does nothing.
template <class T>
concept memory_access = requires(T& there, std::uint64_t at, std::uint64_t word, std::byte* to, const std::byte* from,
                                 std::size_t size) {
  { T::in_place } -> std::convertible_to<bool>;
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
}
&&(!T::in_place || requires(T & here, std::uint64_t at) {
  { here.at(at) }
  noexcept->std::same_as<std::byte*>;
});

}  // namespace ham::transport
