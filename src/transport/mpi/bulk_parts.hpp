// Bytes on their way from their place on one rank to their place on another.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ham::inline v1::transport::mpi {

/// One direction of one transfer. One thread at a time, which may call MPI; the bytes are in use until test() says
/// something else than `moving`.
class bulk_parts {
 public:
  enum class state : std::uint8_t { moving, done, failed };

  bulk_parts() = default;
  bulk_parts(bulk_parts&& other) noexcept = default;
  bulk_parts& operator=(bulk_parts&& other) noexcept;
  bulk_parts(const bulk_parts&) = delete;
  bulk_parts& operator=(const bulk_parts&) = delete;
  /// What still moves then is MPI's to end.
  ~bulk_parts();

  /// Throws std::bad_alloc, before anything moves.
  void send(std::span<const std::byte> bytes, int rank, int tag, MPI_Comm among);
  void receive(std::span<std::byte> bytes, int rank, int tag, MPI_Comm among);
  /// `failed`: MPI says so, or fewer bytes have arrived than were expected.
  [[nodiscard]] state test() noexcept;
  /// Receives that no message has reached yet are done then; MPI completes the others. Once.
  void cancel() noexcept;
  /// Whether MPI may write into the bytes, and read those of the sender, which must not be unmapped then. As of the
  /// last test().
  [[nodiscard]] bool receiving() const noexcept;

 private:
  std::vector<MPI_Request> requests_;
  std::size_t missing_bytes_ = 0;
  bool receives_ = false;
  bool failed_ = false;
};

}  // namespace ham::transport::mpi
