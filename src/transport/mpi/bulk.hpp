// put and get between machines: the owner of the memory checks, then MPI moves the bytes from place to place.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "base/heap.hpp"
#include "transport/mpi/gate.hpp"
#include "transport/transport.hpp"

namespace ham::transport::mpi {

/// Both sides of all transfers of this rank.
class bulk {
 public:
  /// `memory`: what others may access, or nullptr.
  bulk(MPI_Comm among, gate& calls, base::heap* memory);
  ~bulk();
  bulk(const bulk&) = delete;
  bulk& operator=(const bulk&) = delete;

  /// Whether the calling thread may call MPI.
  [[nodiscard]] bool open_to_me() const noexcept { return gate_.open_to_me(); }
  /// Works on what others ask for. A thread that may call MPI; several may call it. True if something is under way.
  bool serve() noexcept;

  enum class direction : std::uint32_t { put = 1, get };
  /// Asks the owner; serves others meanwhile. `lost` says that the rank is gone.
  access_result transfer(int rank, direction what, std::uint64_t address, std::uint64_t tag, std::span<std::byte> local,
                         const std::atomic<bool>& lost);

 private:
  struct request;
  struct answer;
  struct served;

  void begin(const request& asked, int rank);
  void send_control(int rank, std::uint32_t id, access_result result) noexcept;
  template <class Done>
  bool wait(Done done, const std::atomic<bool>& lost);

  MPI_Comm among_;
  gate& gate_;
  base::heap* memory_;
  std::atomic<std::uint32_t> next_id_{0};

  std::mutex mutex_;  // what follows
  std::vector<std::byte> asked_;
  MPI_Request asking_ = MPI_REQUEST_NULL;
  std::list<served> under_way_;
  std::atomic<bool> busy_{false};
};

/// The memory of a rank on another machine.
class distant_memory final : public remote_memory {
 public:
  distant_memory(bulk& by, int rank, const std::atomic<bool>& lost) : bulk_(by), rank_(rank), lost_(lost) {}
  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    return bulk_.transfer(rank_, bulk::direction::put, address, tag, {const_cast<std::byte*>(from), size}, lost_);
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    return bulk_.transfer(rank_, bulk::direction::get, address, tag, {to, size}, lost_);
  }
  [[nodiscard]] background_access background() const noexcept override { return background_access::none; }
  [[nodiscard]] bool open_to_me() const noexcept override { return bulk_.open_to_me(); }
  [[nodiscard]] bool waits_for_peer() const noexcept override { return true; }

 private:
  bulk& bulk_;
  int rank_;
  const std::atomic<bool>& lost_;
};

}  // namespace ham::transport::mpi
