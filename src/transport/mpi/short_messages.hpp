// Messages of a few bytes that their sender does not wait for.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <list>
#include <span>

namespace ham::inline v1::transport::mpi {

/// Keeps each until MPI has sent it. One thread at a time, which may call MPI.
class short_messages {
 public:
  static constexpr std::size_t max_bytes = 48;

  /// `bytes`: at most max_bytes. Throws std::bad_alloc.
  void send(std::span<const std::byte> bytes, int rank, int tag, MPI_Comm among) {
    static_cast<void>(all_sent());
    message& fresh = kept_.emplace_back();
    std::memcpy(fresh.bytes.data(), bytes.data(), bytes.size());
    MPI_Isend(fresh.bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, among, &fresh.request);
  }
  /// Lets go of those that MPI has sent; whether it has sent all.
  bool all_sent() noexcept {
    std::erase_if(kept_, [](message& one) {
      int done = 0;
      return MPI_Test(&one.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
    });
    return kept_.empty();
  }

 private:
  struct message {
    MPI_Request request = MPI_REQUEST_NULL;
    std::array<std::byte, max_bytes> bytes{};
  };
  std::list<message> kept_;
};

}  // namespace ham::transport::mpi
