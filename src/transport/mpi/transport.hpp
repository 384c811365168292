// The ranks of a communicator as nodes of a job: frames in messages, memory of ranks on this machine mapped.
#pragma once

#include <mpi.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/heap.hpp"
#include "transport/mpi/distant_memory.hpp"
#include "transport/mpi/endpoint.hpp"
#include "transport/mpi/neighbours.hpp"
#include "transport/mpi/pause_timer.hpp"
#include "transport/mpi/receive_ring.hpp"
#include "transport/mpi/session.hpp"
#include "transport/mpi/short_messages.hpp"

namespace ham::inline v1::transport::mpi {

struct transport_options {
  node_t first = 1;                 ///< node number of rank 1
  std::int64_t max_pause_ns = 0;    ///< between two polls while asleep; 0: never sleeps
  std::int64_t end_timeout_ns = 0;  ///< for which rank 0 waits for the others at the end; 0: for ever
};

class mpi_transport final : public transport, private endpoint_owner {
 public:
  /// Takes `own` over, a communicator that nobody else uses. All its ranks call it.
  mpi_transport(session& in, MPI_Comm own, const transport_options& how, base::heap* memory, observer& to);
  ~mpi_transport() override;

  [[nodiscard]] const char* name() const noexcept override { return "mpi"; }
  void connect(node_t peer) override;
  [[nodiscard]] endpoint* poll(frame& out, unsigned polls) override;
  [[nodiscard]] bool arm() override;
  void disarm() noexcept override;
  [[nodiscard]] int wake_fd() const noexcept override { return timer_.fd(); }
  void wake() noexcept override { timer_.wake(); }
  [[nodiscard]] bool oversubscribed() const noexcept override { return neighbours_.oversubscribed(); }
  [[nodiscard]] std::int64_t peer_pid(node_t node) const noexcept override;
  void shutdown() noexcept override;

 private:
  struct stored_frame {
    mpi_endpoint* from;
    frame_head head;
    std::vector<std::byte> bytes;
    std::size_t size;
  };

  // ---- endpoint_owner
  void send(mpi_endpoint& on) noexcept override;
  [[nodiscard]] bool receive_credit(mpi_endpoint& of) noexcept override;
  [[nodiscard]] bool poll_one(mpi_endpoint& of, frame& out) noexcept override;
  void release(mpi_endpoint& of) noexcept override;

  [[nodiscard]] node_t node_of(int rank) const noexcept { return rank == 0 ? 0 : first_ + rank - 1; }
  [[nodiscard]] int rank_of(node_t node) const noexcept;
  mpi_endpoint& introduce(int rank);
  [[nodiscard]] mpi_endpoint* next(frame& out);
  [[nodiscard]] mpi_endpoint* accept(frame& out);
  void on_control(mpi_endpoint& from, control what);
  void send_control(int rank, int tag, control what, std::uint32_t position) noexcept;
  bool told() noexcept;
  mpi_endpoint* hand_out(mpi_endpoint& from, const frame& what) noexcept;
  void fail(mpi_endpoint& with, const std::string& why);
  void fail_some(int error);
  void push_all() noexcept;
  void flush() noexcept;
  void drain() noexcept;
  void await_all() noexcept;
  void abort_if_late(std::int64_t since_ns) noexcept;

  gate& gate_;
  MPI_Comm own_;
  const node_t first_;
  const transport_options how_;
  observer& observer_;
  int self_ = 0;
  int size_ = 0;
  neighbours neighbours_;
  pause_timer timer_;
  std::optional<bulk> bulk_;  // if there are ranks on other machines

  std::mutex mutex_;  // owned_
  std::vector<std::unique_ptr<mpi_endpoint>> owned_;
  std::vector<std::atomic<mpi_endpoint*>> endpoints_;  // by rank
  std::atomic<bool> unsent_{false};                    // some endpoint has frames that this thread must send

  // Receiving.
  std::optional<receive_ring> ring_;
  mpi_endpoint* handed_out_ = nullptr;
  unsigned empty_polls_ = 0;
  bool from_stash_ = false;
  std::deque<stored_frame> stash_;  // of others, found while one endpoint was drained
  std::vector<bool> ended_;         // ranks that will send no more

  std::mutex controls_mutex_;
  short_messages controls_;
};

}  // namespace ham::transport::mpi
