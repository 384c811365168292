// Persistent receives from any source. A communicator's messages match posted receives in the order of posting, so that
// the oldest one is the only one to test, however many peers there are.
#include "transport/mpi/receive_ring.hpp"

#include "transport/mpi/frame_format.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

// Three lines more than a frame: otherwise all slots would begin in the same set of the cache.
constexpr std::size_t stride = largest_frame + 192;
// While frames arrive in a row, posting waits for this many: it is done in the shadow of a look that finds nothing.
constexpr std::size_t max_released = 8;

}  // namespace

receive_ring::receive_ring(MPI_Comm among) : among_(among), memory_(new std::byte[stride * count]) {
  for (std::size_t slot = 0; slot < count; ++slot) {
    prepare(slot);
    MPI_Start(&requests_[slot]);
  }
}

void receive_ring::prepare(std::size_t slot) noexcept {
  MPI_Recv_init(at(slot), static_cast<int>(largest_frame), MPI_BYTE, MPI_ANY_SOURCE, frame_tag, among_,
                &requests_[slot]);
}

receive_ring::~receive_ring() {
  post_again();
  for (std::size_t i = 0; i < count; ++i) {
    MPI_Request& one = requests_[(head_ + i) % count];
    if (i != 0 || !there_) {
      MPI_Cancel(&one);
      MPI_Wait(&one, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&one);
  }
}

std::byte* receive_ring::at(std::size_t slot) const noexcept { return memory_.get() + slot * stride; }

bool receive_ring::look() noexcept {
  if (there_) return true;
  int done = 0;
  error_ = MPI_Test(&requests_[head_], &done, &from_);
  if (done == 0) {
    if (released_ != 0) post_again();
    return false;
  }
  there_ = true;
  if (error_ != MPI_SUCCESS) [[unlikely]]
    return look_at_failure();
  int size = 0;
  MPI_Get_count(&from_, MPI_BYTE, &size);
  size_ = static_cast<std::size_t>(size);
  return true;
}

/// A message longer than any frame arrives cut: it counts as one without bytes. Other failures bring no message.
bool receive_ring::look_at_failure() noexcept {
  int kind = error_;
  MPI_Error_class(error_, &kind);
  size_ = 0;
  // Open MPI has freed a request that failed; others keep it.
  if (requests_[head_] != MPI_REQUEST_NULL) MPI_Request_free(&requests_[head_]);
  prepare(head_);
  if (kind == MPI_ERR_TRUNCATE) return true;
  release();
  return false;
}

void receive_ring::release() noexcept {
  if (!there_) return;
  there_ = false;
  head_ = (head_ + 1) % count;
  if (++released_ >= max_released) post_again();
}

void receive_ring::post_again() noexcept {
  for (; released_ != 0; --released_) MPI_Start(&requests_[(head_ + count - released_) % count]);
}

}  // namespace ham::transport::mpi
