// Sends and receives.
#include "mpix/mpi/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ham::inline v1::mpix {
namespace {

std::uint64_t part_size(const message_buffer& bytes) {
  batch_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header.part;
}

// The first part says how large the whole is.
void receive_rest(message_buffer& bytes, int source, MPI_Comm over) {
  if (bytes.size() < sizeof(batch_header)) return;
  batch_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != batch_header::right_magic || header.total <= bytes.size() || header.part != bytes.size()) return;
  bytes.resize(header.total);
  std::vector<MPI_Request> requests;
  for (std::uint64_t at = header.part; at < header.total; at += header.part) {
    const auto size = static_cast<int>(std::min(header.part, header.total - at));
    requests.push_back(MPI_REQUEST_NULL);
    MPI_Irecv(bytes.data() + at, size, MPI_BYTE, source, tag_part, over, &requests.back());
  }
  for (MPI_Request& request : requests) {
    pause wait;
    while (is_pending(request)) wait();
  }
}

}  // namespace

bool is_pending(MPI_Request& request) {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done == 0;
}

void start_batch(const message_buffer& bytes, int to, MPI_Comm over, std::vector<MPI_Request>& requests) {
  const std::uint64_t part = part_size(bytes);
  int tag = tag_batch;
  for (std::uint64_t at = 0; at < bytes.size(); at += part) {
    const auto size = static_cast<int>(std::min(part, bytes.size() - at));
    requests.push_back(MPI_REQUEST_NULL);
    MPI_Isend(bytes.data() + at, size, MPI_BYTE, to, tag, over, &requests.back());
    tag = tag_part;
  }
}

void outbox::send(message_buffer bytes, int to, int tag, MPI_Comm over) {
  item& one = items_.emplace_back(item{std::move(bytes), {MPI_REQUEST_NULL}});
  MPI_Isend(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, to, tag, over, one.requests.data());
}

void outbox::send_batch(message_buffer bytes, int to, MPI_Comm over) {
  item& one = items_.emplace_back(item{std::move(bytes), {}});
  start_batch(one.bytes, to, over, one.requests);
}

bool outbox::progress() {
  items_.remove_if([](item& one) {
    int done = 0;
    MPI_Testall(static_cast<int>(one.requests.size()), one.requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  });
  return items_.empty();
}

std::optional<message_buffer> poll_message(int& source, int tag, MPI_Comm over) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(source, tag, over, &found, &message, &status);
  if (found == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  message_buffer bytes(static_cast<std::size_t>(size));
  MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, &status);
  source = status.MPI_SOURCE;
  return bytes;
}

std::optional<message_buffer> poll_batch(int source, MPI_Comm over) {
  std::optional<message_buffer> bytes = poll_message(source, tag_batch, over);
  if (bytes) receive_rest(*bytes, source, over);
  return bytes;
}

}  // namespace ham::mpix
