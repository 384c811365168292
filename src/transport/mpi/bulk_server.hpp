// What other ranks put to and get from this rank's memory.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "base/heap.hpp"
#include "transport/mpi/bulk_format.hpp"
#include "transport/mpi/bulk_parts.hpp"
#include "transport/mpi/short_messages.hpp"

namespace ham::inline v1::transport::mpi {

/// One thread at a time, which may call MPI.
class bulk_server {
 public:
  /// `memory`: what others may access, or nullptr.
  bulk_server(MPI_Comm among, base::heap* memory);
  ~bulk_server();
  bulk_server(const bulk_server&) = delete;
  bulk_server& operator=(const bulk_server&) = delete;

  /// Takes requests, and tells of ends. True if there was something.
  bool serve() noexcept;
  [[nodiscard]] bool busy() const noexcept { return !under_way_.empty(); }
  /// Whether memory of other ranks may be read by MPI for this one.
  [[nodiscard]] bool receives() const noexcept;
  /// A rank asks for no more: what has not begun to move is dropped. Any thread.
  void forget(int rank) noexcept { gone_[static_cast<std::size_t>(rank)].store(true, std::memory_order_relaxed); }

 private:
  struct served {
    int rank;
    std::uint64_t id;
    bool tells_at_end;
    bulk_parts parts;
    bool cancelled = false;
  };
  void prepare() noexcept;
  bool take_request() noexcept;
  bool finish_some() noexcept;
  void begin(const bulk_request& asked, int rank) noexcept;
  [[nodiscard]] access_result check(const bulk_request& asked) const noexcept;
  void answer(int rank, std::uint64_t id, access_result result) noexcept;

  MPI_Comm among_;
  base::heap* memory_;
  std::array<std::byte, sizeof(bulk_request)> asked_{};
  MPI_Request asking_ = MPI_REQUEST_NULL;
  std::list<served> under_way_;
  std::vector<std::atomic<bool>> gone_;  // by rank
  short_messages answers_;
};

}  // namespace ham::transport::mpi
