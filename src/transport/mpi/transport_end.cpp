// The orderly end of a communicator: all that was sent has arrived, and all ranks have come here.

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "transport/mpi/transport.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

/// Between polls while others take their time: short at first.
using round_pause =
    base::backoff<base::backoff_schedule{.spins = 200, .yields = 0, .sleep_ns = 20'000, .max_sleep_ns = 500'000}>;

}  // namespace

void mpi_transport::shutdown() noexcept {
  if (!ring_ || !gate_.open_to_me()) return;
  push_all();
  if (bulk_) bulk_->end();
  for (int rank = 0; rank < size_; ++rank) {
    const bool met = endpoints_[static_cast<std::size_t>(rank)].load() != nullptr;
    if (rank != self_ && (met || self_ == 0)) send_control(rank, frame_tag, control::ended, 0);
  }
  flush();
  await_all();
  for (const auto& one : owned_) {
    while (receive_credit(*one)) {
    }
  }
  ring_.reset();
  bulk_.reset();
  {
    const auto passing = gate_.pass();
    MPI_Comm_free(&own_);
  }
  neighbours_.set_awake(false);
}

bool mpi_transport::told() noexcept {
  std::lock_guard guard(controls_mutex_);
  const auto passing = gate_.pass();
  return controls_.all_sent();
}

/// Takes what still arrives: others wait until it has gone.
void mpi_transport::drain() noexcept {
  frame dropped;
  while (next(dropped) != nullptr) {
    const auto passing = gate_.pass();
    ring_->release();
  }
  if (bulk_) bulk_->serve();
}

/// Rank 0 gives up in the end: MPI would wait for ever.
void mpi_transport::abort_if_late(std::int64_t since_ns) noexcept {
  if (self_ != 0 || how_.end_timeout_ns == 0 || base::now_ns() - since_ns < how_.end_timeout_ns) return;
  base::log("mpi", base::log_level::error,
            "mpi: some rank has not ended %.0f s after the host (HAM_MPI_END_TIMEOUT): aborting",
            static_cast<double>(how_.end_timeout_ns) / 1e9);
  MPI_Abort(own_, 1);
}

void mpi_transport::flush() noexcept {
  const std::int64_t since = base::now_ns();
  round_pause until_sent;
  for (bool all = false; !all; until_sent.wait()) {
    drain();
    abort_if_late(since);
    all = told() && !(bulk_ && bulk_->receives());
    const auto passing = gate_.pass();
    for (const auto& one : endpoints_) {
      mpi_endpoint* const to = one.load(std::memory_order_acquire);
      const bool reachable = to != nullptr && !ended_[static_cast<std::size_t>(to->rank())];
      all = all && (!reachable || to->flushed());
    }
  }
}

/// Until then a rank may send to any other one.
void mpi_transport::await_all() noexcept {
  MPI_Request barrier = MPI_REQUEST_NULL;
  {
    const auto passing = gate_.pass();
    if (MPI_Ibarrier(own_, &barrier) != MPI_SUCCESS) return;
  }
  const std::int64_t since = base::now_ns();
  round_pause until_there;
  for (int done = 0;; until_there.wait()) {
    drain();
    {
      const auto passing = gate_.pass();
      if (MPI_Test(&barrier, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0) return;
    }
    abort_if_late(since);
  }
}

}  // namespace ham::transport::mpi
