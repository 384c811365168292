// A ring of bytes, a ring of requests.
#include "transport/mpi/send_ring.hpp"

#include "base/cpu.hpp"
#include "transport/mpi/frame_format.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

constexpr std::size_t largest_sent_at_once = 256;

constexpr std::size_t round_to_lines(std::size_t size) noexcept {
  return (size + base::cache_line_bytes - 1) / base::cache_line_bytes * base::cache_line_bytes;
}

}  // namespace

send_ring::send_ring() : memory_(new std::byte[memory_bytes + base::cache_line_bytes]) {}

bool send_ring::fits(std::uint64_t begin, std::size_t room) noexcept {
  if (freed_ == built()) return true;
  return built() - freed_ < max_frames && begin + room - slot(freed_).begin <= memory_bytes;
}

std::byte* send_ring::reserve(std::size_t size, bool may_test) noexcept {
  if (may_test && freed_ != consumed()) reclaim();
  if (freed_ == built()) end_ = 0;  // calls in turns stay in the same cache lines
  const std::size_t room = round_to_lines(size);
  const std::size_t to_edge = memory_bytes - end_ % memory_bytes;
  const std::uint64_t begin = room <= to_edge ? end_ : end_ + to_edge;
  if (!fits(begin, room)) return nullptr;
  frame_slot& next = slot(built());
  next.begin = begin;
  next.size = static_cast<std::uint32_t>(size);
  return memory_.get() + begin % memory_bytes;
}

void send_ring::build() noexcept {
  const frame_slot& next = slot(built());
  end_ = next.begin + round_to_lines(next.size);
  built_.store(built() + 1, std::memory_order_relaxed);
}

/// MPI_Send is quicker than MPI_Isend and the test of its request. It does not wait for the rank's program where the
/// rank has taken all before, so that it has receives posted, and the frame is short.
int send_ring::send(int rank, MPI_Comm among) noexcept {
  for (; sent_ != built(); ++sent_) {
    frame_slot& next = slot(sent_);
    const std::byte* const bytes = memory_.get() + next.begin % memory_bytes;
    const auto size = static_cast<int>(next.size);
    const int error = next.size <= largest_sent_at_once && consumed() == sent_
                          ? MPI_Send(bytes, size, MPI_BYTE, rank, frame_tag, among)
                          : MPI_Isend(bytes, size, MPI_BYTE, rank, frame_tag, among, &next.request);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

void send_ring::reclaim() noexcept {
  for (const std::uint64_t until = consumed(); freed_ != until; ++freed_) {
    int done = 0;
    if (slot(freed_).request == MPI_REQUEST_NULL) continue;
    if (MPI_Test(&slot(freed_).request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) return;
  }
}

bool send_ring::flushed() noexcept {
  for (std::uint64_t at = freed_; at != sent_; ++at) {
    int done = 0;
    if (MPI_Test(&slot(at).request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) return false;
  }
  return true;
}

bool send_ring::take(std::uint32_t position) noexcept {
  std::uint64_t before = taken_.load(std::memory_order_relaxed);
  for (;;) {
    const auto more = static_cast<std::int32_t>(position - static_cast<std::uint32_t>(before));
    if (more <= 0) return true;  // said in a frame that another one has overtaken
    const std::uint64_t now = before + static_cast<std::uint32_t>(more);
    if (now > built()) return false;
    if (taken_.compare_exchange_weak(before, now, std::memory_order_release, std::memory_order_relaxed)) return true;
  }
}

}  // namespace ham::transport::mpi
