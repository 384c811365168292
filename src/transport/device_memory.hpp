// The contract between the runtime and the memory of a device: one block that the processor does not reach, and copies
// between it and memory of the process that go on by themselves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace ham::inline v1::transport {

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

/// By what another process of this machine opens an arena. Only memory of the same kind reads it; what it has from
/// another process may be anything.
struct arena_handle {
  static constexpr std::size_t max_bytes = 96;
  std::uint32_t size = 0;  ///< of what is used; 0: the arena cannot be opened
  std::array<std::byte, max_bytes> content{};

  /// `what` begins with something that tells its kind from others.
  template <class Content>
  requires(std::is_trivially_copyable_v<Content> && sizeof(Content) <= max_bytes) [[nodiscard]] static arena_handle
      of(const Content& what) noexcept {
    arena_handle result;
    result.size = sizeof(Content);
    std::memcpy(result.content.data(), &what, sizeof(Content));
    return result;
  }
  /// False: it has another size.
  template <class Content>
  requires(std::is_trivially_copyable_v<Content> && sizeof(Content) <= max_bytes)
      [[nodiscard]] bool read(Content& into) const noexcept {
    if (size != sizeof(Content)) return false;
    std::memcpy(&into, content.data(), sizeof(Content));
    return true;
  }
  friend bool operator==(const arena_handle&, const arena_handle&) = default;
};

/// The arena of another process, mapped for the device of this one until its end. Members may be called by any thread.
class peer_arena {
 public:
  /// Where this process sees it.
  peer_arena(std::uint64_t address, std::uint64_t bytes) noexcept : address_(address), bytes_(bytes) {}
  /// While the resident kernel is absent, and no copy uses it.
  virtual ~peer_arena() = default;
  peer_arena(const peer_arena&) = delete;
  peer_arena& operator=(const peer_arena&) = delete;

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  /// All of them can be read, whatever its process does.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  const std::uint64_t address_;
  const std::uint64_t bytes_;
};

/// A copy of rows out of the arena of another process.
struct peer_copy {
  std::uint64_t from;  ///< address of the first row, within a peer_arena
  std::uint64_t to;    ///< the same within the own arena
  std::size_t row_bytes;
  std::size_t rows = 1;
  std::size_t from_pitch = 0;  ///< from row to row, if there are several; not less than row_bytes
  std::size_t to_pitch = 0;

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

  /// For other processes of this machine. Any thread.
  [[nodiscard]] virtual arena_handle export_arena() const noexcept { return {}; }
  /// Maps the arena of another process. While the resident kernel is absent; may take 100 ms. nullptr: that cannot be,
  /// or the handle is none. Any thread, also beside one that starts copies.
  [[nodiscard]] virtual std::unique_ptr<peer_arena> open_peer(const arena_handle& /*of*/) noexcept { return nullptr; }

  // ---- one thread at a time. The caller has checked that all addresses lie in the arena.
  /// Each begins a copy and gives its number: 1, 2, 3, ... They are done in this order, one after the other. What
  /// cannot be begun is a failure().
  virtual std::uint64_t start(const device_copy& what) noexcept = 0;
  /// From the device to itself; the two do not overlap.
  virtual std::uint64_t start_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) noexcept = 0;
  /// Out of an arena that open_peer() has mapped, and that stays so until the copy is over. Memory is only read there.
  virtual std::uint64_t start_from_peer(const peer_copy& what) noexcept = 0;
  virtual std::uint64_t start_fill(std::uint64_t to, std::byte value, std::size_t bytes) noexcept = 0;
  /// The number of the last copy that is over; all before it are, too.
  [[nodiscard]] virtual std::uint64_t finished() noexcept = 0;
  /// What has gone wrong, in the words of the device; empty: nothing. Then no further copy is over, and the host's
  /// bytes are not used any more.
  [[nodiscard]] virtual std::string failure() const = 0;
};

}  // namespace ham::transport
