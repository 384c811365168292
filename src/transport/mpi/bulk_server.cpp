// The check, the answer, the bytes straight into or out of their place, for put one more answer.
#include "transport/mpi/bulk_server.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

namespace ham::inline v1::transport::mpi {
namespace {

constexpr int max_taken_at_once = 16;

}  // namespace

bulk_server::bulk_server(MPI_Comm among, base::heap* memory) : among_(among), memory_(memory) {
  int ranks = 0;
  MPI_Comm_size(among_, &ranks);
  gone_ = std::vector<std::atomic<bool>>(static_cast<std::size_t>(ranks));
  prepare();
  MPI_Start(&asking_);
}

void bulk_server::prepare() noexcept {
  MPI_Recv_init(asked_.data(), static_cast<int>(asked_.size()), MPI_BYTE, MPI_ANY_SOURCE, bulk_request_tag, among_,
                &asking_);
}

bulk_server::~bulk_server() {
  MPI_Cancel(&asking_);
  MPI_Wait(&asking_, MPI_STATUS_IGNORE);
  MPI_Request_free(&asking_);
}

bool bulk_server::serve() noexcept {
  bool any = false;
  for (int taken = 0; taken < max_taken_at_once && take_request(); ++taken) any = true;
  return finish_some() || any;
}

bool bulk_server::take_request() noexcept {
  int there = 0;
  MPI_Status from{};
  const int error = MPI_Test(&asking_, &there, &from);
  if (there == 0) return false;
  int size = 0;
  if (error == MPI_SUCCESS) {
    MPI_Get_count(&from, MPI_BYTE, &size);
  } else {  // a message that is too long, or a rank that MPI has lost
    if (asking_ != MPI_REQUEST_NULL) MPI_Request_free(&asking_);  // Open MPI has freed it
    prepare();
  }
  if (const auto asked = read_request(std::span(asked_).first(static_cast<std::size_t>(size))))
    begin(*asked, from.MPI_SOURCE);
  MPI_Start(&asking_);
  return true;
}

bool bulk_server::finish_some() noexcept {
  return std::erase_if(under_way_, [this](served& one) {
           const bulk_parts::state now = one.parts.test();
           if (now == bulk_parts::state::moving) {
             if (!gone_[static_cast<std::size_t>(one.rank)].load(std::memory_order_relaxed)) return false;
             if (!std::exchange(one.cancelled, true)) one.parts.cancel();
             return !one.parts.receiving();
           }
           if (one.tells_at_end && !one.cancelled)
             answer(one.rank, one.id, now == bulk_parts::state::done ? access_result::done : access_result::lost);
           return true;
         }) != 0;
}

bool bulk_server::receives() const noexcept {
  return std::any_of(under_way_.begin(), under_way_.end(), [](const served& one) { return one.parts.receiving(); });
}

access_result bulk_server::check(const bulk_request& asked) const noexcept {
  if (memory_ == nullptr) return access_result::stale;
  switch (memory_->check(asked.address, asked.tag, asked.size)) {
    case base::heap_check::valid: return access_result::done;
    case base::heap_check::stale: break;
    case base::heap_check::out_of_range: return access_result::out_of_range;
  }
  return access_result::stale;
}

/// Nothing moves before the check.
void bulk_server::begin(const bulk_request& asked, int rank) noexcept {
  access_result result = check(asked);
  if (result == access_result::done) {
    const std::span place(reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(asked.address)), asked.size);
    const auto verb = static_cast<bulk_verb>(asked.verb);
    try {
      std::list<served> fresh;
      fresh.push_back({rank, asked.id, verb == bulk_verb::put, {}, false});
      if (verb == bulk_verb::put)
        fresh.front().parts.receive(place, rank, data_tag(verb, asked.id), among_);
      else
        fresh.front().parts.send(place, rank, data_tag(verb, asked.id), among_);
      under_way_.splice(under_way_.end(), fresh);
    } catch (const std::bad_alloc&) {
      result = access_result::lost;
    }
  }
  answer(rank, asked.id, result);
}

void bulk_server::answer(int rank, std::uint64_t id, access_result result) noexcept {
  const auto text = static_cast<std::byte>(result);
  try {
    answers_.send({&text, 1}, rank, answer_tag(id), among_);
  } catch (const std::bad_alloc&) {
    MPI_Send(&text, 1, MPI_BYTE, rank, answer_tag(id), among_);
  }
}

}  // namespace ham::transport::mpi
