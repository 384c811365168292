// Frames between ranks.
#include "transport/mpi/transport.hpp"

#include <algorithm>
#include <array>

#include "ham/error.hpp"
#include "transport/mpi/failures.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

constexpr unsigned polls_per_bulk = 8;   // that find nothing, for one at requests of bulk data
constexpr unsigned polls_per_poll = 16;  // that the runtime wants, for one of ours, which takes longer

int heap_file(const base::heap* memory) noexcept { return memory == nullptr ? -1 : memory->fd(); }

}  // namespace

mpi_transport::mpi_transport(session& in, MPI_Comm own, const transport_options& how, base::heap* memory, observer& to)
    : gate_(in.calls()),
      own_(own),
      first_(how.first),
      how_(how),
      observer_(to),
      neighbours_(own, heap_file(memory)),
      timer_(how.max_pause_ns) {
  MPI_Comm_rank(own_, &self_);
  MPI_Comm_size(own_, &size_);
  endpoints_ = std::vector<std::atomic<mpi_endpoint*>>(static_cast<std::size_t>(size_));
  ended_.resize(static_cast<std::size_t>(size_));
  ring_.emplace(own_);
  if (!neighbours_.only_this_machine()) bulk_.emplace(own_, gate_, memory);
  MPI_Barrier(own_);  // nobody sends before all have posted receives
}

mpi_transport::~mpi_transport() { shutdown(); }

int mpi_transport::rank_of(node_t node) const noexcept {
  if (node == 0) return 0;
  return node >= first_ && node - first_ < size_ - 1 ? node - first_ + 1 : -1;
}

std::int64_t mpi_transport::peer_pid(node_t node) const noexcept {
  const int rank = rank_of(node);
  return rank < 0 ? -1 : neighbours_.pid(rank);
}

// ---- connections

void mpi_transport::connect(node_t peer) {
  const int rank = rank_of(peer);
  if (rank < 0 || rank == self_)
    observer_.on_lost(peer, "it is no rank of this node's communicator");
  else
    introduce(rank);
}

/// The endpoint of a rank; made when either side first has something to say.
mpi_endpoint& mpi_transport::introduce(int rank) {
  std::atomic<mpi_endpoint*>& place = endpoints_[static_cast<std::size_t>(rank)];
  if (mpi_endpoint* const known = place.load(std::memory_order_acquire)) return *known;
  std::lock_guard guard(mutex_);
  if (mpi_endpoint* const known = place.load(std::memory_order_relaxed)) return *known;
  endpoint_owner& me = *this;
  owned_.push_back(std::make_unique<mpi_endpoint>(node_of(rank), rank, gate_, me));
  mpi_endpoint& fresh = *owned_.back();
  if (neighbours_.on_this_machine(rank))
    fresh.set_memory(neighbours_.memory_of(rank));
  else if (neighbours_.has_heap(rank))
    fresh.set_memory(std::make_shared<distant_memory>(*bulk_, rank, fresh.gone()));
  place.store(&fresh, std::memory_order_release);
  observer_.on_connected(fresh);
  return fresh;
}

/// Its process lives on: it is heard when it says that it has ended, and otherwise not.
void mpi_transport::fail(mpi_endpoint& with, const std::string& why) {
  if (with.state() != endpoint_state::open) return;
  with.close(why);
  observer_.on_broken(with.peer(), why);
}

void mpi_transport::fail_some(int error) {
  for (const int rank : failed_ranks(own_, error)) {
    const auto at = static_cast<std::size_t>(rank);
    if (rank == self_ || ended_[at]) continue;
    ended_[at] = true;
    if (bulk_) bulk_->forget(rank);
    observer_.on_lost(node_of(rank), "MPI lost its rank (" + text_of(error) + ")");
  }
}

// ---- sending

void mpi_transport::send(mpi_endpoint& on) noexcept {
  if (!gate_.open_to_me()) {
    unsent_.store(true, std::memory_order_seq_cst);
    wake();
    return;
  }
  int error = MPI_SUCCESS;
  {
    const auto passing = gate_.pass();
    error = on.push(own_);
  }
  if (error != MPI_SUCCESS) observer_.on_lost(on.peer(), "MPI cannot send to it (" + text_of(error) + ")");
}

/// What threads have built that may not call MPI.
void mpi_transport::push_all() noexcept {
  if (!unsent_.exchange(false)) return;
  for (const auto& one : endpoints_) {
    if (mpi_endpoint* const to = one.load(std::memory_order_acquire)) send(*to);
  }
}

bool mpi_transport::receive_credit(mpi_endpoint& of) noexcept {
  const auto passing = gate_.pass();
  int there = 0;
  MPI_Iprobe(of.rank(), credit_tag, own_, &there, MPI_STATUS_IGNORE);
  if (there == 0) return false;
  std::array<std::byte, sizeof(frame_format)> text{};
  MPI_Recv(text.data(), static_cast<int>(text.size()), MPI_BYTE, of.rank(), credit_tag, own_, MPI_STATUS_IGNORE);
  return of.on_acknowledged(load_head(text.data()).taken);
}

void mpi_transport::send_control(int rank, int tag, control what, std::uint32_t position) noexcept {
  std::array<std::byte, sizeof(frame_format)> text{};
  store_head(text.data(), {0, 0, static_cast<std::uint8_t>(what)}, position);
  std::lock_guard guard(controls_mutex_);
  const auto passing = gate_.pass();
  controls_.send(text, rank, tag, own_);
}

// ---- receiving

endpoint* mpi_transport::poll(frame& out, unsigned polls) {
  if (!stash_.empty()) [[unlikely]] {
    const stored_frame& oldest = stash_.front();
    from_stash_ = true;
    out = {oldest.head, {oldest.bytes.data(), oldest.size}};
    return hand_out(*oldest.from, out);
  }
  if (!gate_.open_to_me()) [[unlikely]]
    return nullptr;
  if (unsent_.load(std::memory_order_relaxed)) [[unlikely]]
    push_all();
  for (unsigned done = 0;; done += polls_per_poll) {
    if (mpi_endpoint* const from = next(out)) return hand_out(*from, out);
    if (bulk_ && ++empty_polls_ % polls_per_bulk == 0) bulk_->serve();
    if (done + polls_per_poll >= polls) return nullptr;
  }
}

/// The next frame for the runtime, which stays at the head of the ring.
mpi_endpoint* mpi_transport::next(frame& out) {
  if (!ring_) return nullptr;
  const auto passing = gate_.pass();
  while (ring_->look()) {
    if (mpi_endpoint* const from = accept(out)) return from;
    ring_->release();
  }
  if (ring_->error() != MPI_SUCCESS) [[unlikely]]
    fail_some(ring_->error());
  return nullptr;
}

mpi_endpoint* mpi_transport::accept(frame& out) {
  mpi_endpoint& from = introduce(ring_->rank());
  const std::span<const std::byte> bytes = ring_->bytes();
  if (bytes.size() < sizeof(frame_format)) [[unlikely]] {
    fail(from, "it sent a message that is no frame, too short or too long");
    return nullptr;
  }
  const frame_format head = load_head(bytes.data());
  if (!from.on_acknowledged(head.taken)) [[unlikely]] {
    fail(from, "it says that it has taken more than it was sent");
    return nullptr;
  }
  if (head.kind >= static_cast<std::uint8_t>(control::credit)) {
    on_control(from, static_cast<control>(head.kind));
    return nullptr;
  }
  if (from.state() != endpoint_state::open) [[unlikely]]
    return nullptr;
  if (head.kind == 0) [[unlikely]] {
    fail(from, "it sent a frame of no kind");
    return nullptr;
  }
  out = {{head.key, head.call, head.kind}, bytes.subspan(sizeof(frame_format))};
  return &from;
}

void mpi_transport::on_control(mpi_endpoint& from, control what) {
  switch (what) {
    case control::credit: break;  // those have a tag of their own
    case control::ended:
      ended_[static_cast<std::size_t>(from.rank())] = true;
      if (bulk_) bulk_->forget(from.rank());
      observer_.on_lost(from.peer(), "its runtime has ended");
      return;
  }
  fail(from, "it sent a frame of a kind that this release does not know");
}

mpi_endpoint* mpi_transport::hand_out(mpi_endpoint& from, const frame& what) noexcept {
  timer_.reset();
  from.count(what.payload.size());
  handed_out_ = &from;
  return &from;
}

void mpi_transport::release(mpi_endpoint& of) noexcept {
  if (handed_out_ != &of) return;
  handed_out_ = nullptr;
  if (from_stash_) {
    from_stash_ = false;
    stash_.pop_front();
  } else {
    const auto passing = gate_.pass();
    ring_->release();
  }
  if (of.credit_due()) send_control(of.rank(), credit_tag, control::credit, of.position_to_acknowledge());
}

/// MPI gives frames of all ranks in one order: those of others are kept for poll().
bool mpi_transport::poll_one(mpi_endpoint& of, frame& out) noexcept {
  const auto kept = std::ranges::find(stash_, &of, &stored_frame::from);
  if (kept != stash_.end()) {
    std::rotate(stash_.begin(), kept, kept + 1);
    out = {stash_.front().head, {stash_.front().bytes.data(), stash_.front().size}};
    from_stash_ = true;
    hand_out(of, out);
    return true;
  }
  if (!gate_.open_to_me()) return false;
  try {
    while (mpi_endpoint* const from = next(out)) {
      if (from == &of) {
        hand_out(of, out);
        return true;
      }
      const std::span<const std::byte> bytes = out.payload;
      stash_.push_back({from, out.head, {bytes.begin(), bytes.end()}, bytes.size()});
      stash_.back().bytes.resize(std::max(bytes.size(), readable_payload));
      const auto passing = gate_.pass();
      ring_->release();
    }
  } catch (const std::exception&) {  // no memory: the frames stay where they are
  }
  return false;
}

// ---- sleeping

bool mpi_transport::arm() {
  if (how_.max_pause_ns == 0 || !stash_.empty() || !ring_) return false;
  if (gate_.open_to_me()) {
    push_all();
    const auto passing = gate_.pass();
    if (ring_->look()) return false;
  }
  if (bulk_ && gate_.open_to_me() && bulk_->serve()) {
    if (bulk_->moves()) return false;
    timer_.reset();  // not for long
  }
  neighbours_.set_awake(false);
  timer_.start();
  return true;
}

void mpi_transport::disarm() noexcept {
  neighbours_.set_awake(true);
  timer_.stop();
}

}  // namespace ham::transport::mpi
