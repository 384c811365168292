// The size of a device, and of an emulated one its link, as HAM_NODES says them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ham::inline v1::transport::cuda {

/// Where a node with an emulated device allocates.
enum class memory_kind : std::uint32_t {
  device,  ///< memory of the device, which its process alone has
  shared,  ///< memory of the process, which its host maps
};

/// Fixed-width fields: it travels to targets.
struct geometry {
  /// HAM_CUDA_LINGER says it, on the host.
  static constexpr std::int64_t linger_of_setting = -1;
  /// A device that threads emulate.
  static constexpr std::int32_t emulated = -1;

  std::uint32_t blocks = 2;   ///< of the resident kernel; of a real GPU 0: as many as the driver thinks
  std::uint32_t warps = 2;    ///< of a block
  std::uint32_t lanes = 2;    ///< of a warp
  std::int64_t read_ns = 0;   ///< a read over the link, there and back
  std::int64_t write_ns = 0;  ///< until a write over the link has arrived
  std::int64_t linger_ns = linger_of_setting;  ///< how long the resident kernel stays without a call
  std::int64_t watchdog_ns = 10'000'000'000;   ///< for a function to end that has been asked to stop; 0: for ever
  std::int32_t gpu = emulated;                 ///< the number of a real GPU
  std::uint32_t nodes_on_gpu = 1;              ///< of the same group, with this one

  memory_kind memory = memory_kind::device;
  std::uint64_t arena_bytes = std::uint64_t{1} << 30;  ///< of the device's memory; of a real GPU 0: arena_share()
  std::int64_t bandwidth_mb_s = 0;  ///< of copies over the link, in 10^6 bytes per second; 0: no limit
  std::int64_t fence_ns = 0;        ///< a fence of the device; one for memory of the host takes twice as long

  [[nodiscard]] bool sane() const noexcept;
};

/// How much of a GPU's memory a node takes whose list does not say it: one of `nodes` on a GPU of `all` bytes, of which
/// `free` are free now. Nine tenths of what is free, but no more than its part of nine tenths of all, which is the same
/// whoever of them comes first. A multiple of 2 MiB; 0: nothing is left.
[[nodiscard]] constexpr std::uint64_t arena_share(std::uint64_t free, std::uint64_t all, std::uint32_t nodes) noexcept {
  constexpr std::uint64_t granularity = std::uint64_t{2} << 20;
  const std::uint64_t own = nodes <= 1 ? free / 10 * 9 : std::min(free / 10 * 9, all / 10 * 9 / nodes);
  return own / granularity * granularity;
}

/// Reads "KEY=VALUE/KEY=VALUE" of an emulated device; what is not named keeps its default. Throws ham::config_error.
[[nodiscard]] geometry parse_geometry(std::string_view text);
/// The same of a real GPU, of which the number is 0: blocks, threads, linger, watchdog and arena.
[[nodiscard]] geometry parse_gpu_geometry(std::string_view text);

}  // namespace ham::transport::cuda
