// The functions of ham/device/words.hpp as hipcc spells them, which includes this in code for AMD's GPUs. Internal. No
// such device has run it (docs/gpu.md).
#pragma once

#include <cstdint>

#include "ham/device/words.hpp"

#if defined(__HIP_DEVICE_COMPILE__)

namespace ham::inline v1::device::detail {

HAM_DEVICE inline std::uint64_t acquire(const std::uint64_t& word) noexcept {
  return __hip_atomic_load(&word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}

HAM_DEVICE inline void release(std::uint64_t& word, std::uint64_t value) noexcept {
  __hip_atomic_store(&word, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

HAM_DEVICE inline void note(std::uint64_t& word, std::uint64_t value) noexcept {
  __hip_atomic_store(&word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

HAM_DEVICE inline std::uint64_t acquire_in_block(const std::uint64_t& word) noexcept {
  return __hip_atomic_load(&word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP);
}

HAM_DEVICE inline void release_in_block(std::uint64_t& word, std::uint64_t value) noexcept {
  __hip_atomic_store(&word, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
}

HAM_DEVICE inline std::uint64_t fetch_add_in_block(std::uint64_t& word, std::uint64_t more) noexcept {
  return __hip_atomic_fetch_add(&word, more, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_WORKGROUP);
}

HAM_DEVICE inline void keep_bits_in_block(std::uint64_t& word, std::uint64_t mask) noexcept {
  __hip_atomic_fetch_and(&word, mask, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
}

HAM_DEVICE inline std::uint64_t exchange_in_block(std::uint64_t& word, std::uint64_t expected,
                                                  std::uint64_t wanted) noexcept {
  __hip_atomic_compare_exchange_strong(&word, &expected, wanted, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE,
                                       __HIP_MEMORY_SCOPE_WORKGROUP);
  return expected;
}

}  // namespace ham::device::detail

#endif
