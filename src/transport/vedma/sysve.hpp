// What a Vector Engine program calls for DMA and host memory: functions of NEC's libsysve, and three instructions.
//
// Never run: there was no Vector Engine. Compiled for one by the test vedma.compiles_for_ve.
#pragma once

#ifdef __ve__

#include <cstddef>
#include <cstdint>

extern "C" {
int ve_dma_init(void);
/// Addresses are VEHVA; `size` a multiple of 4, below 128 MiB. 0: done.
int ve_dma_post_wait(std::uint64_t to, std::uint64_t from, int size);
/// VEHVA of `size` bytes at `vemva`, both multiples of the page size; ~0: failed.
std::uint64_t ve_register_mem_to_dmaatb(void* vemva, std::size_t size);
int ve_unregister_mem_from_dmaatb(std::uint64_t vehva);
/// Attaches a SysV segment of the host and registers it; its VEHVA in *vehva. (void*)-1: failed.
void* vh_shmat(int id, const void* address, int flags, void** vehva);
int vh_shmdt(const void* address);
}

namespace ham::inline v1::transport::vedma {

/// LHM: loads a word of host memory.
[[nodiscard]] inline std::uint64_t load_host_memory(std::uint64_t vehva) noexcept {
  std::uint64_t word = 0;
  asm volatile("lhm.l %0, 0(%1)" : "=r"(word) : "r"(vehva) : "memory");
  return word;
}
/// SHM: stores one.
inline void store_host_memory(std::uint64_t vehva, std::uint64_t word) noexcept {
  asm volatile("shm.l %0, 0(%1)" : : "r"(word), "r"(vehva) : "memory");
}
/// FENCEM for loads and stores.
inline void fence_memory() noexcept { asm volatile("fencem 3" : : : "memory"); }

}  // namespace ham::transport::vedma

#endif
