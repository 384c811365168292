// The contract between the runtime and the memory of a device: one block that the processor does not reach, and copies
// between it and memory of the process that go on by themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ham::inline v0::transport {

/// A copy between memory of the process, where the bytes follow each other, and rows in memory of the device.
struct device_copy {
  enum class direction : std::uint8_t { to_device, to_host } which;
  std::uint64_t device;  ///< address of the first row
  std::byte* host;       ///< in use until the copy is over; not written by one to the device
  std::size_t row_bytes;
  std::size_t rows = 1;
  std::size_t pitch = 0;  ///< from row to row on the device, if there are several; not less than row_bytes

  [[nodiscard]] constexpr std::size_t bytes() const noexcept { return rows * row_bytes; }
};

/// The memory of one device, which is owned by one process. The runtime divides it; nobody else takes any of it. It is
/// there before the resident kernel begins, because nothing may be allocated while that runs, and copies go on beside
/// it. Nothing here waits for the device.
class device_memory {
 public:
  device_memory() = default;
  virtual ~device_memory() = default;
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  /// A part of the device's address space, aligned to 256 bytes. Any thread.
  struct block {
    std::uint64_t address;
    std::uint64_t bytes;
  };
  [[nodiscard]] virtual block arena() const noexcept = 0;
  /// Memory of the process that copies are quick from and to (page-locked, where a device knows that): other memory
  /// goes through it. Aligned to 64 bytes. Any thread.
  [[nodiscard]] virtual std::span<std::byte> staging() noexcept = 0;

  /// Makes copies from and to this memory of the process as quick as those of staging(), whole pages that stay mapped
  /// as long as the process. While the resident kernel is absent; may take 100 ms. False: that cannot be. Any thread,
  /// also beside one that starts copies.
  [[nodiscard]] virtual bool lock_pages(std::span<std::byte> /*memory*/) noexcept { return true; }

  // ---- one thread at a time. The caller has checked that all addresses lie in the arena.
  /// Each begins a copy and gives its number: 1, 2, 3, ... They are done in this order, one after the other. What
  /// cannot be begun is a failure().
  virtual std::uint64_t start(const device_copy& what) noexcept = 0;
  /// From the device to itself; the two do not overlap.
  virtual std::uint64_t start_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) noexcept = 0;
  virtual std::uint64_t start_fill(std::uint64_t to, std::byte value, std::size_t bytes) noexcept = 0;
  /// The number of the last copy that is over; all before it are, too.
  [[nodiscard]] virtual std::uint64_t finished() noexcept = 0;
  /// What has gone wrong, in the words of the device; empty: nothing. Then no further copy is over, and the host's
  /// bytes are not used any more.
  [[nodiscard]] virtual std::string failure() const = 0;
};

}  // namespace ham::transport
