// What parents keep of an intercommunicator to children: private communicators, calls that are under way, failures.
#pragma once

#include "mpix/message.hpp"
#include "mpix/mpi/transfer.hpp"

#include <ham/mpix_kernel.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ham::inline v1::mpix {

/// Kernels of a call that somebody will wait for, as the root knows them.
struct pending_call {
  std::vector<MPIX_Kernel_status> statuses;
  bool ended = false;             ///< child 0 has said so
  bool collects = false;          ///< of waitall: tells failures of others as well
  std::uint32_t reports = 0;      ///< failures reported so far ...
  std::uint32_t reports_due = 0;  ///< ... and how many there are
};

class connection {
 public:
  /// The connection of `intercomm`; made if there is none yet, which is collective and waits for the children. Null if
  /// `intercomm` is no intercommunicator. `comm`: the parents.
  static std::shared_ptr<connection> of(MPI_Comm comm, MPI_Comm intercomm);

  /// Made by of().
  connection(MPI_Comm comm, MPI_Comm intercomm);

  [[nodiscard]] int parents() const noexcept { return parents_; }

  /// Takes the next ticket, which counts on all parents alike, and on the root sends `calls` (null: arguments were
  /// wrong, an empty message keeps the count). Returns what the C functions return.
  int call(int root, const kernel_calls* calls, std::uint32_t flags, bool collects, std::uint64_t& ticket);

  /// True if the kernels of the ticket have ended. Their statuses then, and nobody is told them again.
  bool test(std::uint64_t ticket, int root, std::vector<MPIX_Kernel_status>& statuses);

  /// Looks for reports and lets go of what has been sent.
  void progress();

  /// The intercommunicator is gone: lets go of what is kept beside it.
  void forget();

  /// MPI ends and the intercommunicator is still there: ends the children and disconnects them. Collective.
  void leave();

 private:
  void receive_report(const kernel_report& report, std::span<const std::byte> rest);
  void receive_failure(const kernel_report& report);
  void acknowledge();
  void fail_pending();
  void send_end_directly();
  void notify_other_parents(std::uint64_t ticket, const std::vector<MPIX_Kernel_status>& statuses);
  bool has_ended(const pending_call& call) const noexcept;
  [[nodiscard]] MPIX_Kernel_status crash_status() const noexcept;

  std::mutex mutex_;
  MPI_Comm intercomm_;
  MPI_Comm control_ = MPI_COMM_NULL;   // to the children
  MPI_Comm siblings_ = MPI_COMM_NULL;  // of the parents
  int rank_ = 0;
  int parents_ = 0;
  int children_ = 0;
  std::uint64_t next_ticket_ = 0;
  bool ended_ = false;
  bool abandoned_ = false;  // children were told to wait for nothing any more
  bool left_ = false;
  std::optional<kernel_report> crash_;
  std::optional<MPIX_Kernel_status> untold_;  // first failure of a kernel that no request is for
  std::vector<int> unacknowledged_;           // children whose failures nobody was told yet
  std::map<std::uint64_t, pending_call> pending_;
  outbox outbox_;
};

}  // namespace ham::mpix
