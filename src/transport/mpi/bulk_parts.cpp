// MPI counts in int: several messages of one tag, whose order MPI keeps.
#include "transport/mpi/bulk_parts.hpp"

#include <algorithm>

namespace ham::inline v1::transport::mpi {
namespace {

constexpr std::size_t max_at_once = std::size_t{1} << 30;

/// start(offset, count, request) for each part.
template <class Start>
bool start_parts(std::vector<MPI_Request>& requests, std::size_t bytes, Start start) {
  requests.assign((bytes + max_at_once - 1) / max_at_once, MPI_REQUEST_NULL);
  for (std::size_t part = 0; part < requests.size(); ++part) {
    const std::size_t at = part * max_at_once;
    const auto count = static_cast<int>(std::min(max_at_once, bytes - at));
    if (start(at, count, &requests[part]) != MPI_SUCCESS) return false;
  }
  return true;
}

}  // namespace

bulk_parts::~bulk_parts() {
  for (MPI_Request& one : requests_) {
    if (one != MPI_REQUEST_NULL) MPI_Request_free(&one);
  }
}

bulk_parts& bulk_parts::operator=(bulk_parts&& other) noexcept {
  requests_.swap(other.requests_);  // whose end is that of ours
  missing_bytes_ = other.missing_bytes_;
  receives_ = other.receives_;
  failed_ = other.failed_;
  return *this;
}

void bulk_parts::send(std::span<const std::byte> bytes, int rank, int tag, MPI_Comm among) {
  failed_ = !start_parts(requests_, bytes.size(), [&](std::size_t at, int count, MPI_Request* request) {
    return MPI_Isend(bytes.data() + at, count, MPI_BYTE, rank, tag, among, request);
  });
}

void bulk_parts::receive(std::span<std::byte> bytes, int rank, int tag, MPI_Comm among) {
  receives_ = true;
  missing_bytes_ = bytes.size();
  failed_ = !start_parts(requests_, bytes.size(), [&](std::size_t at, int count, MPI_Request* request) {
    return MPI_Irecv(bytes.data() + at, count, MPI_BYTE, rank, tag, among, request);
  });
}

bulk_parts::state bulk_parts::test() noexcept {
  bool moving = false;
  for (MPI_Request& one : requests_) {
    if (one == MPI_REQUEST_NULL) continue;
    int done = 0;
    MPI_Status how{};
    if (MPI_Test(&one, &done, &how) != MPI_SUCCESS) {
      failed_ = true;
      one = MPI_REQUEST_NULL;
      continue;
    }
    moving = moving || done == 0;
    if (done == 0 || !receives_) continue;
    int cancelled = 0;
    int count = 0;
    MPI_Test_cancelled(&how, &cancelled);
    if (cancelled == 0) MPI_Get_count(&how, MPI_BYTE, &count);
    missing_bytes_ -= std::min(static_cast<std::size_t>(count), missing_bytes_);
  }
  if (moving) return state::moving;
  return failed_ || missing_bytes_ != 0 ? state::failed : state::done;
}

void bulk_parts::cancel() noexcept {
  for (MPI_Request& one : requests_) {
    if (receives_ && one != MPI_REQUEST_NULL) MPI_Cancel(&one);
  }
}

bool bulk_parts::receiving() const noexcept {
  return receives_ && std::any_of(requests_.begin(), requests_.end(),
                                  [](const MPI_Request& one) { return one != MPI_REQUEST_NULL; });
}

}  // namespace ham::transport::mpi
