// Words that the host and a device exchange through memory which both can reach. Internal.
//
// A word that is stored with release() after other bytes makes those visible to whoever reads it with acquire(): on the
// host, on the device, and between the two.
#pragma once

#include <cstdint>

#include "ham/device/macros.hpp"

namespace ham::inline v1::device::detail {

[[nodiscard]] HAM_DEVICE inline std::uint64_t acquire(const std::uint64_t& word) noexcept {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(&word) : "memory");
  return value;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(&word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
#endif
}

HAM_DEVICE inline void release(std::uint64_t& word, std::uint64_t value) noexcept {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(&word), "l"(value) : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_store(&word, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
#endif
}

/// Stores it without an order with anything else, for which nobody waits.
HAM_DEVICE inline void note(std::uint64_t& word, std::uint64_t value) noexcept {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(&word), "l"(value));
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_store(&word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
#endif
}

/// Two words that lie side by side, the first one aligned to 16 bytes.
struct word_pair {
  std::uint64_t first;
  std::uint64_t second;
};

// One access of 16 bytes is known to PTX 8.3 and later.
#if defined(__CUDA_ARCH__) && (__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4))
#define HAM_DEVICE_READS_PAIRS 1
#else
#define HAM_DEVICE_READS_PAIRS 0
#endif

/// Both of them: if the first one was stored with release() after the second one, that is as old as the first one or
/// newer. Ordered as acquire() is.
[[nodiscard]] HAM_DEVICE inline word_pair acquire_pair(const std::uint64_t* words) noexcept {
#if HAM_DEVICE_READS_PAIRS
  word_pair both;
  asm volatile("{.reg .b128 pair; ld.acquire.sys.b128 pair, [%2]; mov.b128 {%0, %1}, pair;}"
               : "=l"(both.first), "=l"(both.second)
               : "l"(words)
               : "memory");
  return both;
#else
  const std::uint64_t first = acquire(words[0]);
  return {first, acquire(words[1])};
#endif
}
/// Who reads the first word of a pair that is stored behind it with store_pair() by acquire() sees the second one, and
/// what was written to memory of the device before. One of them is enough for several pairs.
HAM_DEVICE inline void order_pairs() noexcept {
#if HAM_DEVICE_READS_PAIRS
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}
HAM_DEVICE inline void store_pair(std::uint64_t* words, const word_pair& both) noexcept {
#if HAM_DEVICE_READS_PAIRS
  asm volatile("{.reg .b128 pair; mov.b128 pair, {%1, %2}; st.relaxed.sys.b128 [%0], pair;}" ::"l"(words),
               "l"(both.first), "l"(both.second)
               : "memory");
#else
  words[1] = both.second;
  release(words[0], both.first);
#endif
}
HAM_DEVICE inline void write_pair(std::uint64_t* words, const word_pair& both) noexcept {
  order_pairs();
  store_pair(words, both);
}

// Words that only the threads of one block use, in the memory that they share: on a GPU the nearest one, in which none
// of these waits for the memory of the device.

[[nodiscard]] HAM_DEVICE inline std::uint64_t acquire_in_block(const std::uint64_t& word) noexcept {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
  asm volatile("ld.acquire.cta.shared.u64 %0, [%1];"
               : "=l"(value)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&word)))
               : "memory");
  return value;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(&word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP);
#else
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
#endif
}

HAM_DEVICE inline void release_in_block(std::uint64_t& word, std::uint64_t value) noexcept {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.cta.shared.u64 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&word))),
               "l"(value)
               : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_store(&word, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
#else
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
#endif
}

/// Adds, and gives what it was before.
HAM_DEVICE inline std::uint64_t fetch_add_in_block(std::uint64_t& word, std::uint64_t more) noexcept {
#if defined(__CUDA_ARCH__)
  std::uint64_t before;
  asm volatile("atom.acq_rel.cta.shared.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&word))), "l"(more)
               : "memory");
  return before;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_fetch_add(&word, more, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_WORKGROUP);
#else
  return __atomic_fetch_add(&word, more, __ATOMIC_ACQ_REL);
#endif
}

/// Keeps those bits that are set in `mask`, behind what this thread has read and written.
HAM_DEVICE inline void keep_bits_in_block(std::uint64_t& word, std::uint64_t mask) noexcept {
#if defined(__CUDA_ARCH__)
  asm volatile("red.release.cta.shared.and.b64 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&word))),
               "l"(mask)
               : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_fetch_and(&word, mask, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
#else
  __atomic_fetch_and(&word, mask, __ATOMIC_RELEASE);
#endif
}

/// Replaces `expected` by `wanted`, and gives what it was before.
HAM_DEVICE inline std::uint64_t exchange_in_block(std::uint64_t& word, std::uint64_t expected,
                                                  std::uint64_t wanted) noexcept {
#if defined(__CUDA_ARCH__)
  std::uint64_t before;
  asm volatile("atom.acq_rel.cta.shared.cas.b64 %0, [%1], %2, %3;"
               : "=l"(before)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&word))), "l"(expected), "l"(wanted)
               : "memory");
  return before;
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_compare_exchange_strong(&word, &expected, wanted, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE,
                                       __HIP_MEMORY_SCOPE_WORKGROUP);
  return expected;
#else
  __atomic_compare_exchange_n(&word, &expected, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
#endif
}

}  // namespace ham::device::detail
