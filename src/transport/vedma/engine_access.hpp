// The Vector Engine's way to the ring in the host's memory: LHM and SHM for words, user DMA for blocks.
//
// Never run: there was no Vector Engine. Compiled for one by the test vedma.compiles_for_ve.
#pragma once

#ifdef __ve__

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "ham/error.hpp"
#include "transport/common/memory_access.hpp"
#include "transport/vedma/sysve.hpp"

namespace ham::inline v1::transport::vedma {

/// Blocks are moved between the segment and a page of this memory that is registered in the DMAATB as well.
class engine_access {
 public:
  static constexpr bool in_place = false;
  static constexpr std::size_t page = std::size_t{64} << 20;

  engine_access(std::uint64_t segment, std::size_t /*size*/) {
    if (ve_dma_init() != 0) throw config_error("no DMA engine for this process; see the log of VEOS");
    void* vehva = nullptr;
    if (segment > INT_MAX) throw config_error("the host names a segment that cannot be");
    attached_ = vh_shmat(static_cast<int>(segment), nullptr, 0, &vehva);
    if (reinterpret_cast<std::intptr_t>(attached_) == -1) {
      throw config_error("cannot attach the host's segment; the host needs free huge pages (vm.nr_hugepages)");
    }
    ring_ = reinterpret_cast<std::uint64_t>(vehva);
    local_ = static_cast<std::byte*>(std::aligned_alloc(page, page));
    local_vehva_ = local_ == nullptr ? ~std::uint64_t{0} : ve_register_mem_to_dmaatb(local_, page);
    if (local_vehva_ == ~std::uint64_t{0}) {
      vh_shmdt(attached_);
      std::free(local_);
      throw config_error("cannot register memory in the DMAATB; its entries are used up");
    }
  }
  ~engine_access() {
    ve_unregister_mem_from_dmaatb(local_vehva_);
    vh_shmdt(attached_);
    std::free(local_);
  }
  engine_access(const engine_access&) = delete;
  engine_access& operator=(const engine_access&) = delete;

  [[nodiscard]] std::byte* stage(std::size_t size) {
    size = (size + 63) / 64 * 64;
    if (staged_ + size > page) throw config_error("the registered page is too small for the buffers of the ring");
    return local_ + std::exchange(staged_, staged_ + size);
  }
  [[nodiscard]] std::uint64_t read_word(std::uint64_t at) noexcept { return load_host_memory(ring_ + at); }
  void write_word(std::uint64_t at, std::uint64_t word) noexcept { store_host_memory(ring_ + at, word); }
  void read_block(std::uint64_t at, std::byte* to, std::size_t size) noexcept {
    transfer(vehva_of(to), ring_ + at, size);
  }
  /// Buffers are multiples of words.
  void write_block(std::uint64_t at, const std::byte* from, std::size_t size) noexcept {
    if (size > max_stored_bytes) {
      transfer(ring_ + at, vehva_of(from), size);
      return;
    }
    for (std::size_t done = 0; done < size; done += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + done, sizeof word);
      store_host_memory(ring_ + at + done, word);
    }
  }
  void fence() noexcept { fence_memory(); }
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::uint64_t vehva_of(const std::byte* here) const noexcept {
    return local_vehva_ + static_cast<std::uint64_t>(here - local_);
  }
  /// Rounded up to words: buffers are multiples of them.
  void transfer(std::uint64_t to, std::uint64_t from, std::size_t size) noexcept {
    if (ve_dma_post_wait(to, from, static_cast<int>((size + 7) / 8 * 8)) != 0) failed_.store(true);
  }

  void* attached_ = nullptr;
  std::uint64_t ring_ = 0;
  std::byte* local_ = nullptr;
  std::uint64_t local_vehva_ = 0;
  std::size_t staged_ = 0;
  std::atomic<bool> failed_{false};
};
static_assert(memory_access<engine_access>);

}  // namespace ham::transport::vedma

#endif
