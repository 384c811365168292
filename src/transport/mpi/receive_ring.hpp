// Receives posted ahead, for frames of any rank, looked at in the order in which MPI matches them.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace ham::inline v1::transport::mpi {

/// One thread at a time, which may call MPI.
class receive_ring {
 public:
  explicit receive_ring(MPI_Comm among);
  /// Frames that have arrived and were not looked at are lost.
  ~receive_ring();
  receive_ring(const receive_ring&) = delete;
  receive_ring& operator=(const receive_ring&) = delete;

  /// Whether a frame is there. What is given back is posted again when there is none.
  [[nodiscard]] bool look() noexcept;
  /// After look() said so: its bytes, valid until release().
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {at(head_), size_}; }
  [[nodiscard]] int rank() const noexcept { return from_.MPI_SOURCE; }
  void release() noexcept;
  /// Of the last look that failed.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  static constexpr std::size_t count = 16;

  [[nodiscard]] std::byte* at(std::size_t slot) const noexcept;
  void prepare(std::size_t slot) noexcept;
  void post_again() noexcept;
  bool look_at_failure() noexcept;

  MPI_Comm among_;
  std::unique_ptr<std::byte[]> memory_;
  std::array<MPI_Request, count> requests_;
  std::size_t head_ = 0;      // looked at
  std::size_t released_ = 0;  // slots before the head that are not posted
  bool there_ = false;
  std::size_t size_ = 0;
  MPI_Status from_{};
  int error_ = MPI_SUCCESS;
};

}  // namespace ham::transport::mpi
