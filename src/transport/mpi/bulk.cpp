// A transfer: request, the owner's answer, the bytes straight out of one place into the other, for put one more answer.
#include "transport/mpi/bulk.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/backoff.hpp"
#include "transport/mpi/frame_format.hpp"

namespace ham::transport::mpi {
namespace {

constexpr std::size_t max_at_once = std::size_t{1} << 30;  // MPI counts in int

/// The parts of one transfer. MPI keeps those of one tag in order.
std::vector<MPI_Request> move(std::span<std::byte> bytes, int rank, int tag, MPI_Comm among, bool send) {
  std::vector<MPI_Request> parts;
  for (std::size_t at = 0; at < bytes.size(); at += max_at_once) {
    const int size = static_cast<int>(std::min(max_at_once, bytes.size() - at));
    MPI_Request& one = parts.emplace_back(MPI_REQUEST_NULL);
    if (send)
      MPI_Isend(bytes.data() + at, size, MPI_BYTE, rank, tag, among, &one);
    else
      MPI_Irecv(bytes.data() + at, size, MPI_BYTE, rank, tag, among, &one);
  }
  return parts;
}

bool all_done(std::vector<MPI_Request>& parts) {
  int done = 1;
  if (!parts.empty()) MPI_Testall(static_cast<int>(parts.size()), parts.data(), &done, MPI_STATUSES_IGNORE);
  return done != 0;
}

int data_tag(std::uint32_t id) noexcept { return first_bulk_tag + 2 * static_cast<int>(id % bulk_tags); }
int answer_tag(std::uint32_t id) noexcept { return data_tag(id) + 1; }

}  // namespace

/// Words are little-endian.
struct bulk::request {
  std::uint64_t what, id, address, tag, size;

  [[nodiscard]] static request little_endian(request text) noexcept {
    if constexpr (std::endian::native == std::endian::big) {
      for (std::uint64_t* word : {&text.what, &text.id, &text.address, &text.tag, &text.size})
        *word = __builtin_bswap64(*word);
    }
    return text;
  }
};
struct bulk::answer {
  std::byte result;
};
struct bulk::served {
  int rank;
  std::uint32_t id;
  bool tell_at_end;
  std::vector<MPI_Request> parts;
};

bulk::bulk(MPI_Comm among, gate& calls, base::heap* memory)
    : among_(among), gate_(calls), memory_(memory), asked_(sizeof(request)) {
  MPI_Recv_init(asked_.data(), static_cast<int>(asked_.size()), MPI_BYTE, MPI_ANY_SOURCE, bulk_request_tag, among_,
                &asking_);
  MPI_Start(&asking_);
}

bulk::~bulk() {
  MPI_Cancel(&asking_);
  MPI_Wait(&asking_, MPI_STATUS_IGNORE);
  MPI_Request_free(&asking_);
}

bool bulk::serve() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return busy_.load(std::memory_order_relaxed);
  const auto passing = gate_.pass();
  int there = 0;
  MPI_Status from{};
  const int error = MPI_Test(&asking_, &there, &from);
  if (there != 0) {
    int size = 0;
    if (error == MPI_SUCCESS) MPI_Get_count(&from, MPI_BYTE, &size);
    request asked{};
    std::memcpy(&asked, asked_.data(), sizeof asked);
    if (size == static_cast<int>(sizeof asked)) begin(request::little_endian(asked), from.MPI_SOURCE);
    MPI_Start(&asking_);
  }
  for (auto one = under_way_.begin(); one != under_way_.end();) {
    if (!all_done(one->parts)) {
      ++one;
      continue;
    }
    if (one->tell_at_end) send_control(one->rank, one->id, access_result::done);
    one = under_way_.erase(one);
  }
  busy_.store(!under_way_.empty(), std::memory_order_relaxed);
  return there != 0 || !under_way_.empty();
}

/// Nothing moves before the check.
void bulk::begin(const request& asked, int rank) {
  access_result result = access_result::stale;
  if (memory_ != nullptr) {
    switch (memory_->check(asked.address, asked.tag, asked.size)) {
      case base::heap_check::valid: result = access_result::done; break;
      case base::heap_check::stale: break;
      case base::heap_check::out_of_range: result = access_result::out_of_range; break;
    }
  }
  const bool put = asked.what == static_cast<std::uint64_t>(direction::put);
  if (result == access_result::done) {
    auto* const place = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(asked.address));
    const auto id = static_cast<std::uint32_t>(asked.id);
    under_way_.push_back({rank, id, put, move({place, asked.size}, rank, data_tag(id), among_, !put)});
  }
  send_control(rank, static_cast<std::uint32_t>(asked.id), result);
}

void bulk::send_control(int rank, std::uint32_t id, access_result result) noexcept {
  const answer text{static_cast<std::byte>(result)};
  MPI_Send(&text, sizeof text, MPI_BYTE, rank, answer_tag(id), among_);
}

template <class Done>
bool bulk::wait(Done done, const std::atomic<bool>& lost) {
  for (base::backoff<base::backoff_schedule{.spins = 20'000, .yields = 0, .sleep_ns = 50'000}> pause;; pause.wait()) {
    {
      const auto passing = gate_.pass();
      if (done()) return true;
    }
    if (lost.load(std::memory_order_relaxed)) return false;
    serve();  // two ranks that put to each other wait for each other
  }
}

access_result bulk::transfer(int rank, direction what, std::uint64_t address, std::uint64_t tag,
                             std::span<std::byte> local, const std::atomic<bool>& lost) {
  const std::uint32_t id = next_id_.fetch_add(1);
  const request text = request::little_endian({static_cast<std::uint64_t>(what), id, address, tag, local.size()});
  const bool put = what == direction::put;
  answer heard{static_cast<std::byte>(access_result::lost)};  // if no answer comes
  MPI_Request hearing = MPI_REQUEST_NULL;
  std::vector<MPI_Request> parts;
  const auto listen = [&] { MPI_Irecv(&heard, sizeof heard, MPI_BYTE, rank, answer_tag(id), among_, &hearing); };
  const auto has_heard = [&] {
    int done = 0;
    MPI_Test(&hearing, &done, MPI_STATUS_IGNORE);
    return done != 0;
  };
  {
    const auto passing = gate_.pass();
    listen();
    MPI_Send(&text, sizeof text, MPI_BYTE, rank, bulk_request_tag, among_);
  }
  if (!wait(has_heard, lost)) return access_result::lost;
  const auto result = static_cast<access_result>(heard.result);
  if (result != access_result::done) return result;
  heard.result = static_cast<std::byte>(access_result::lost);
  {
    const auto passing = gate_.pass();
    if (put) listen();
    parts = move(local, rank, data_tag(id), among_, put);
  }
  if (!wait([&] { return all_done(parts); }, lost)) return access_result::lost;
  if (put && !wait(has_heard, lost)) return access_result::lost;
  return put ? static_cast<access_result>(heard.result) : access_result::done;
}

}  // namespace ham::transport::mpi
