// Words that the host and a device exchange through memory which both can reach. Internal.
//
// A word that is stored with release() after other bytes makes those visible to whoever reads it with acquire(): on the
// host, on the device, and between the two. For devices the folder of their vendor has the instructions.
#pragma once

#include <cstdint>

#include "ham/device/macros.hpp"

namespace ham::inline v1::device::detail {

/// Two words that lie side by side, the first one aligned to 16 bytes.
struct word_pair {
  std::uint64_t first;
  std::uint64_t second;
};

[[nodiscard]] HAM_DEVICE inline std::uint64_t acquire(const std::uint64_t& word) noexcept;
HAM_DEVICE inline void release(std::uint64_t& word, std::uint64_t value) noexcept;
/// Stores it without an order with anything else, for which nobody waits.
HAM_DEVICE inline void note(std::uint64_t& word, std::uint64_t value) noexcept;

/// Both of them: if the first one was stored with release() after the second one, that is as old as the first one or
/// newer. Ordered as acquire() is.
[[nodiscard]] HAM_DEVICE inline word_pair acquire_pair(const std::uint64_t* words) noexcept;
/// Who reads the first word of a pair that is stored behind it with store_pair() by acquire() sees the second one, and
/// what was written to memory of the device before. One of them is enough for several pairs.
HAM_DEVICE inline void order_pairs() noexcept;
HAM_DEVICE inline void store_pair(std::uint64_t* words, const word_pair& both) noexcept;
HAM_DEVICE inline void write_pair(std::uint64_t* words, const word_pair& both) noexcept {
  order_pairs();
  store_pair(words, both);
}

// Words that only the threads of one block use, in the memory that they share: on a GPU the nearest one, in which none
// of these waits for the memory of the device.

[[nodiscard]] HAM_DEVICE inline std::uint64_t acquire_in_block(const std::uint64_t& word) noexcept;
HAM_DEVICE inline void release_in_block(std::uint64_t& word, std::uint64_t value) noexcept;
/// Adds, and gives what it was before.
HAM_DEVICE inline std::uint64_t fetch_add_in_block(std::uint64_t& word, std::uint64_t more) noexcept;
/// Keeps those bits that are set in `mask`, behind what this thread has read and written.
HAM_DEVICE inline void keep_bits_in_block(std::uint64_t& word, std::uint64_t mask) noexcept;
/// Replaces `expected` by `wanted`, and gives what it was before.
HAM_DEVICE inline std::uint64_t exchange_in_block(std::uint64_t& word, std::uint64_t expected,
                                                  std::uint64_t wanted) noexcept;

}  // namespace ham::device::detail

#if defined(__CUDA_ARCH__)
#include "ham/device/nvidia/words.hpp"
#elif defined(__HIP_DEVICE_COMPILE__)
#include "ham/device/amd/words.hpp"
#else

namespace ham::inline v1::device::detail {

HAM_DEVICE inline std::uint64_t acquire(const std::uint64_t& word) noexcept {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
HAM_DEVICE inline void release(std::uint64_t& word, std::uint64_t value) noexcept {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}
HAM_DEVICE inline void note(std::uint64_t& word, std::uint64_t value) noexcept {
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}
HAM_DEVICE inline std::uint64_t acquire_in_block(const std::uint64_t& word) noexcept { return acquire(word); }
HAM_DEVICE inline void release_in_block(std::uint64_t& word, std::uint64_t value) noexcept { release(word, value); }
HAM_DEVICE inline std::uint64_t fetch_add_in_block(std::uint64_t& word, std::uint64_t more) noexcept {
  return __atomic_fetch_add(&word, more, __ATOMIC_ACQ_REL);
}
HAM_DEVICE inline void keep_bits_in_block(std::uint64_t& word, std::uint64_t mask) noexcept {
  __atomic_fetch_and(&word, mask, __ATOMIC_RELEASE);
}
HAM_DEVICE inline std::uint64_t exchange_in_block(std::uint64_t& word, std::uint64_t expected,
                                                  std::uint64_t wanted) noexcept {
  __atomic_compare_exchange_n(&word, &expected, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
}

}  // namespace ham::device::detail

#endif

// Where no access of 16 bytes is known.
#if !defined(HAM_DEVICE_HAS_PAIRS)
namespace ham::inline v1::device::detail {

HAM_DEVICE inline word_pair acquire_pair(const std::uint64_t* words) noexcept {
  const std::uint64_t first = acquire(words[0]);
  return {first, acquire(words[1])};
}
HAM_DEVICE inline void order_pairs() noexcept {}
HAM_DEVICE inline void store_pair(std::uint64_t* words, const word_pair& both) noexcept {
  words[1] = both.second;
  release(words[0], both.first);
}

}  // namespace ham::device::detail
#endif
