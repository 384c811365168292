// Building, sending, counting.
#include "transport/mpi/endpoint.hpp"

#include <utility>

namespace ham::inline v1::transport::mpi {
namespace {

// A quarter of what the sender may have under way.
constexpr std::uint32_t tell_after_frames = send_ring::max_frames / 4;
constexpr std::size_t tell_after_bytes = send_ring::memory_bytes / 4;

}  // namespace

std::unique_lock<std::mutex> mpi_endpoint::sending() noexcept {
  std::unique_lock lock(sending_, std::defer_lock);
  if (gate_.funneled()) lock.lock();
  return lock;
}

std::byte* mpi_endpoint::reserve(std::size_t size) noexcept {
  if (state_.load(std::memory_order_relaxed) != endpoint_state::open) return nullptr;
  const bool may_call = gate_.open_to_me();
  const auto lock = sending();
  do {
    const auto passing = gate_.pass();
    reserved_ = ring_.reserve(sizeof(frame_format) + size, may_call);
  } while (reserved_ == nullptr && may_call && owner_.receive_credit(*this));
  return reserved_ == nullptr ? nullptr : reserved_ + sizeof(frame_format);
}

void mpi_endpoint::commit(const frame_head& head) noexcept {
  if (reserved_ == nullptr || state_.load(std::memory_order_relaxed) != endpoint_state::open) return;
  const std::uint32_t got = got_.load(std::memory_order_relaxed);
  acknowledged_.store(got, std::memory_order_relaxed);
  store_head(std::exchange(reserved_, nullptr), head, got);
  {
    const auto lock = sending();
    ring_.build();
  }
  sent_ = ring_.built();
  owner_.send(*this);
}

int mpi_endpoint::push(MPI_Comm among) noexcept {
  const auto lock = sending();
  return ring_.send(rank_, among);
}

bool mpi_endpoint::flushed() noexcept {
  const auto lock = sending();
  return ring_.flushed();
}

void mpi_endpoint::count(std::size_t size) noexcept {
  const std::uint32_t told = acknowledged_.load(std::memory_order_relaxed);
  if (told != seen_acknowledged_) {
    seen_acknowledged_ = told;
    untold_bytes_ = 0;
  }
  untold_bytes_ += size;
  got_.store(got_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

bool mpi_endpoint::credit_due() const noexcept {
  return got_.load(std::memory_order_relaxed) - acknowledged_.load(std::memory_order_relaxed) >= tell_after_frames ||
         untold_bytes_ >= tell_after_bytes;
}

std::uint32_t mpi_endpoint::position_to_acknowledge() noexcept {
  const std::uint32_t got = got_.load(std::memory_order_relaxed);
  acknowledged_.store(got, std::memory_order_relaxed);
  untold_bytes_ = 0;
  return got;
}

std::string mpi_endpoint::reason() const {
  std::lock_guard guard(mutex_);
  return reason_;
}

void mpi_endpoint::close(const std::string& reason) noexcept {
  std::lock_guard guard(mutex_);
  if (state_.load(std::memory_order_relaxed) != endpoint_state::open) return;
  try {
    reason_ = reason;
  } catch (const std::bad_alloc&) {  // closed all the same
  }
  state_.store(endpoint_state::closed, std::memory_order_release);
  gone_.store(true, std::memory_order_release);
}

}  // namespace ham::transport::mpi
