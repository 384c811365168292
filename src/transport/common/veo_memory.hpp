// put and get of the host in a Vector Engine's memory: transfers of VEO from place to place (paper 1, V-B).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/heap.hpp"
#include "transport/common/heap_access.hpp"
#include "transport/common/libveo.hpp"
#include "transport/common/reachability.hpp"
#include "transport/common/veo_welcome.hpp"

namespace ham::inline v1::transport::veo {

/// Any thread. A transfer to see what the allocation is, and one for the bytes.
class target_memory final : public remote_memory {
 public:
  /// `welcome_at`: where the target says of its heap.
  target_memory(const libveo& veo, veo_proc_handle* process, std::uint64_t welcome_at,
                std::shared_ptr<reachability> reach)
      : veo_(veo), process_(process), welcome_at_(welcome_at), reach_(std::move(reach)) {}

  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    const access_result answer = check(address, tag, size);
    if (answer != access_result::done || size == 0) return answer;
    return reached([&] { return veo_.write_mem(process_, address, from, size) == 0; });
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    const access_result answer = check(address, tag, size);
    if (answer != access_result::done || size == 0) return answer;
    return reached([&] { return veo_.read_mem(process_, to, address, size) == 0; });
  }

 private:
  /// An entry of the heap's table, as it lies there.
  struct entry {
    std::uint64_t tag, offset, size;
  };
  static_assert(sizeof(entry) == sizeof(base::heap_entry));

  template <class Work>
  access_result reached(Work work) noexcept {
    bool done = false;
    reach_->use([&] { return done = work(); });
    return done ? access_result::done : access_result::lost;
  }
  access_result read(void* to, std::uint64_t from, std::size_t size) noexcept {
    return reached([&] { return veo_.read_mem(process_, to, from, size) == 0; });
  }

  access_result check(std::uint64_t address, std::uint64_t tag, std::size_t size) noexcept {
    std::uint64_t heap = heap_.load(std::memory_order_relaxed);
    if (heap == 0) {
      const access_result answer = read(&heap, welcome_at_ + offsetof(welcome, heap), sizeof heap);
      if (answer != access_result::done) return answer;
      heap_.store(heap, std::memory_order_relaxed);
    }
    if (tag == 0 || heap == 0) return access_result::stale;
    constexpr std::uint64_t index_mask = (std::uint64_t{1} << base::heap_index_bits) - 1;
    entry is{};
    const std::uint64_t at = heap + base::heap_table_offset + (tag & index_mask) * sizeof is;
    if (const access_result answer = read(&is, at, sizeof is); answer != access_result::done) return answer;
    if (is.tag != tag) return access_result::stale;
    const std::uint64_t begin = heap + is.offset;
    const bool inside = address >= begin && address - begin <= is.size && size <= is.size - (address - begin);
    return inside ? access_result::done : access_result::out_of_range;
  }

  const libveo& veo_;
  veo_proc_handle* const process_;
  const std::uint64_t welcome_at_;
  const std::shared_ptr<reachability> reach_;
  std::atomic<std::uint64_t> heap_{0};  ///< where it begins there; 0: not asked so far
};

}  // namespace ham::transport::veo
