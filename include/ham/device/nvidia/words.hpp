// NVIDIA's instructions for the functions of ham/device/words.hpp, which includes this in code for its GPUs. Internal.
#pragma once

#include <cstdint>

#include "ham/device/words.hpp"

#if defined(__CUDA_ARCH__)

// One access of 16 bytes is known to PTX 8.3 and later.
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4)
#define HAM_DEVICE_HAS_PAIRS 1
#endif

namespace ham::inline v1::device::detail {

HAM_DEVICE inline std::uint64_t acquire(const std::uint64_t& word) noexcept {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(&word) : "memory");
  return value;
}

HAM_DEVICE inline void release(std::uint64_t& word, std::uint64_t value) noexcept {
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(&word), "l"(value) : "memory");
}

HAM_DEVICE inline void note(std::uint64_t& word, std::uint64_t value) noexcept {
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(&word), "l"(value));
}

#if defined(HAM_DEVICE_HAS_PAIRS)
HAM_DEVICE inline word_pair acquire_pair(const std::uint64_t* words) noexcept {
  word_pair both;
  asm volatile("{.reg .b128 pair; ld.acquire.sys.b128 pair, [%2]; mov.b128 {%0, %1}, pair;}"
               : "=l"(both.first), "=l"(both.second)
               : "l"(words)
               : "memory");
  return both;
}
HAM_DEVICE inline void order_pairs() noexcept { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
HAM_DEVICE inline void store_pair(std::uint64_t* words, const word_pair& both) noexcept {
  asm volatile("{.reg .b128 pair; mov.b128 pair, {%1, %2}; st.relaxed.sys.b128 [%0], pair;}" ::"l"(words),
               "l"(both.first), "l"(both.second)
               : "memory");
}
#endif

HAM_DEVICE inline std::uint64_t acquire_in_block(const std::uint64_t& word) noexcept {
  std::uint64_t value;
  asm volatile("ld.acquire.cta.shared.u64 %0, [%1];"
               : "=l"(value)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&word)))
               : "memory");
  return value;
}

HAM_DEVICE inline void release_in_block(std::uint64_t& word, std::uint64_t value) noexcept {
  asm volatile("st.release.cta.shared.u64 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&word))),
               "l"(value)
               : "memory");
}

HAM_DEVICE inline std::uint64_t fetch_add_in_block(std::uint64_t& word, std::uint64_t more) noexcept {
  std::uint64_t before;
  asm volatile("atom.acq_rel.cta.shared.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&word))), "l"(more)
               : "memory");
  return before;
}

HAM_DEVICE inline void keep_bits_in_block(std::uint64_t& word, std::uint64_t mask) noexcept {
  asm volatile("red.release.cta.shared.and.b64 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&word))),
               "l"(mask)
               : "memory");
}

HAM_DEVICE inline std::uint64_t exchange_in_block(std::uint64_t& word, std::uint64_t expected,
                                                  std::uint64_t wanted) noexcept {
  std::uint64_t before;
  asm volatile("atom.acq_rel.cta.shared.cas.b64 %0, [%1], %2, %3;"
               : "=l"(before)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&word))), "l"(expected), "l"(wanted)
               : "memory");
  return before;
}

}  // namespace ham::device::detail

#endif
