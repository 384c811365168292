// One rank as a peer: its send ring, and the count of what was taken from it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "transport/mpi/frame_format.hpp"
#include "transport/mpi/gate.hpp"
#include "transport/mpi/send_ring.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::mpi {

class mpi_endpoint;

/// What an endpoint asks of its transport.
class endpoint_owner {
 public:
  virtual ~endpoint_owner() = default;
  /// A frame is built and is to be sent. Any thread.
  virtual void send(mpi_endpoint& on) noexcept = 0;
  /// Looks for what the peer says that it has taken. True if it did. The sending thread, if it may call MPI.
  [[nodiscard]] virtual bool receive_credit(mpi_endpoint& of) noexcept = 0;
  /// Only the next frame of one endpoint; the receiving thread.
  [[nodiscard]] virtual bool poll_one(mpi_endpoint& of, frame& out) noexcept = 0;
  virtual void release(mpi_endpoint& of) noexcept = 0;
};

class mpi_endpoint final : public endpoint {
 public:
  mpi_endpoint(node_t peer, int rank, gate& calls, endpoint_owner& owner)
      : endpoint(peer), rank_(rank), gate_(calls), owner_(owner) {
    medium = "mpi";
  }

  // ---- endpoint
  [[nodiscard]] std::size_t max_payload() const noexcept override { return largest_payload; }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override;
  void cancel() noexcept override {}
  void commit(const frame_head& head) noexcept override;
  [[nodiscard]] std::uint64_t consumed() const noexcept override {
    // Of what was under way at the end nobody knows whether it was taken.
    return state() == endpoint_state::open ? ring_.consumed() : ring_.built();
  }
  [[nodiscard]] bool poll(frame& out) noexcept override { return owner_.poll_one(*this, out); }
  void release() noexcept override { owner_.release(*this); }
  [[nodiscard]] endpoint_state state() const noexcept override { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] std::string reason() const override;
  void close(const std::string& reason) noexcept override;
  [[nodiscard]] std::shared_ptr<remote_memory> memory() noexcept override { return memory_; }

  // ---- for the transport
  /// Access to the peer's memory.
  void set_memory(std::shared_ptr<remote_memory> memory) noexcept { memory_ = std::move(memory); }
  [[nodiscard]] const std::atomic<bool>& gone() const noexcept { return gone_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// Sends what is built. A thread that may call MPI.
  int push(MPI_Comm among) noexcept;
  /// Whether all has left. A thread that may call MPI.
  [[nodiscard]] bool flushed() noexcept;
  /// A frame of this rank is handed out; counts it. The receiving thread, as all that follow.
  void count(std::size_t size) noexcept;
  /// Whether the rank waits to hear what was taken; then the position to say, and it counts as said.
  [[nodiscard]] bool credit_due() const noexcept;
  [[nodiscard]] std::uint32_t position_to_acknowledge() noexcept;
  /// False: nonsense. Any thread.
  [[nodiscard]] bool on_acknowledged(std::uint32_t position) noexcept { return ring_.take(position); }

 private:
  [[nodiscard]] std::unique_lock<std::mutex> sending() noexcept;

  const int rank_;
  gate& gate_;
  endpoint_owner& owner_;
  std::mutex sending_;  ///< taken while one thread sends what others build
  send_ring ring_;
  std::byte* reserved_ = nullptr;
  std::shared_ptr<remote_memory> memory_;

  std::atomic<std::uint32_t> got_{0};           ///< frames handed out
  std::atomic<std::uint32_t> acknowledged_{0};  ///< of which the rank has heard
  std::uint32_t seen_acknowledged_ = 0;
  std::size_t untold_bytes_ = 0;

  std::atomic<bool> gone_{false};
  std::atomic<endpoint_state> state_{endpoint_state::open};
  mutable std::mutex mutex_;  ///< reason_
  std::string reason_;
};

}  // namespace ham::transport::mpi
