// put and get between machines: the owner of the memory checks, then MPI moves the bytes from place to place.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "base/heap.hpp"
#include "transport/mpi/bulk_client.hpp"
#include "transport/mpi/bulk_server.hpp"
#include "transport/mpi/gate.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::mpi {

/// Both sides of all transfers of this rank. Threads that may call MPI.
class bulk {
 public:
  /// `memory`: what others may access, or nullptr.
  bulk(MPI_Comm among, gate& calls, base::heap* memory) : gate_(calls), server_(among, memory), client_(among) {}

  [[nodiscard]] const gate& calls() const noexcept { return gate_; }
  /// Works on what others ask for and on what this rank has asked for, unless another thread does. True if something is
  /// under way.
  bool serve() noexcept;
  /// Whether bytes seem to be moving by what serve() does, so that it had better be called again at once.
  [[nodiscard]] bool moves() const noexcept;

  /// A rank sends no more. Any thread.
  void forget(int rank) noexcept { server_.forget(rank); }

  /// This rank ends: nobody waits for what it has asked for. serve() goes on until receives() says no; before that no
  /// rank may unmap memory.
  void end() noexcept;
  [[nodiscard]] bool receives() noexcept;

  /// Begins one, which serve() moves on. Does not wait. Throws std::bad_alloc.
  [[nodiscard]] std::shared_ptr<bulk_access> start(bulk_verb verb, const bulk_access::target& where,
                                                   std::span<std::byte> local);
  /// The same to its end.
  access_result transfer(bulk_verb verb, const bulk_access::target& where, std::span<std::byte> local);

 private:
  gate& gate_;
  std::mutex mutex_;  // the next two
  bulk_server server_;
  bulk_client client_;
  std::atomic<bool> busy_{false};
  std::atomic<std::int64_t> moved_at_ns_{0};
};

}  // namespace ham::transport::mpi
