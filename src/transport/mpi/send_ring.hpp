// Memory in which frames for one rank are built and from which they are sent; room again when the rank has taken them.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ham::inline v1::transport::mpi {

/// One thread at a time, but for consumed(). Positions count frames.
class send_ring {
 public:
  static constexpr std::size_t max_frames = 256;
  static constexpr std::size_t memory_bytes = std::size_t{1} << 20;

  send_ring();
  /// Room for a frame of `size` bytes, or nullptr. `may_test`: this thread may call MPI.
  [[nodiscard]] std::byte* reserve(std::size_t size, bool may_test) noexcept;
  /// Counts what was reserved as built: it is to be sent.
  void build() noexcept;
  /// Sends what was built and not sent yet, in order. Gives MPI's error.
  int send(int rank, MPI_Comm among) noexcept;
  /// Frees what has been taken. May call MPI.
  void reclaim() noexcept;
  /// Whether all that was sent has left; tests all requests. May call MPI.
  [[nodiscard]] bool flushed() noexcept;

  [[nodiscard]] std::uint64_t built() const noexcept { return built_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t consumed() const noexcept { return taken_.load(std::memory_order_acquire); }
  /// The rank has taken so many frames, the lower 32 bits. False: it has not been sent so many. Any thread.
  [[nodiscard]] bool take(std::uint32_t position) noexcept;

 private:
  struct frame_slot {
    MPI_Request request = MPI_REQUEST_NULL;
    std::uint64_t begin = 0;  ///< in the endless sequence of bytes that runs round the memory
    std::uint32_t size = 0;
  };
  [[nodiscard]] frame_slot& slot(std::uint64_t position) noexcept { return slots_[position % max_frames]; }
  [[nodiscard]] bool fits(std::uint64_t begin, std::size_t room) noexcept;

  std::unique_ptr<std::byte[]> memory_;
  std::array<frame_slot, max_frames> slots_;
  std::uint64_t freed_ = 0;
  std::uint64_t sent_ = 0;
  std::atomic<std::uint64_t> built_{0};
  std::uint64_t end_ = 0;  ///< of the newest frame's bytes
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace ham::transport::mpi
