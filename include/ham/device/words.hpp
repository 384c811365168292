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

/// Adds to a word of the device's own memory and gives what it was before. Among threads of the device only.
HAM_DEVICE inline std::uint64_t fetch_add(std::uint64_t& word, std::uint64_t more) noexcept {
#if defined(__CUDA_ARCH__)
  return atomicAdd(reinterpret_cast<unsigned long long*>(&word), static_cast<unsigned long long>(more));
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_fetch_add(&word, more, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
#else
  return __atomic_fetch_add(&word, more, __ATOMIC_ACQ_REL);
#endif
}

/// Replaces `expected` by `wanted` in such a word. False: it was something else.
[[nodiscard]] HAM_DEVICE inline bool replace(std::uint64_t& word, std::uint64_t expected,
                                             std::uint64_t wanted) noexcept {
#if defined(__CUDA_ARCH__)
  return atomicCAS(reinterpret_cast<unsigned long long*>(&word), static_cast<unsigned long long>(expected),
                   static_cast<unsigned long long>(wanted)) == expected;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_compare_exchange_strong(&word, &expected, wanted, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE,
                                              __HIP_MEMORY_SCOPE_AGENT);
#else
  return __atomic_compare_exchange_n(&word, &expected, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
#endif
}

}  // namespace ham::device::detail
