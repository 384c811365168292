// Who works, and when it is worth while to go on at once.
#include "transport/mpi/bulk.hpp"

#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

/// MPI does not say whether a call has moved bytes; one that took so long has.
constexpr std::int64_t moving_call_ns = 5'000;
/// After so long without such a call it is the other rank, or the network, that moves them.
constexpr std::int64_t moving_since_ns = 200'000;

}  // namespace

bool bulk::serve() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return true;
  const bool was_busy = busy_.load(std::memory_order_relaxed);
  const std::int64_t begin = was_busy ? base::now_ns() : 0;
  const auto passing = gate_.pass();
  const bool served = server_.serve();
  const bool any = client_.advance() || served;
  const bool busy = server_.busy() || client_.busy();
  busy_.store(busy, std::memory_order_relaxed);
  if (any || was_busy) {
    const std::int64_t now = base::now_ns();
    if (any || now - begin > moving_call_ns) moved_at_ns_.store(now, std::memory_order_relaxed);
  }
  return any || busy;
}

bool bulk::moves() const noexcept {
  return base::now_ns() - moved_at_ns_.load(std::memory_order_relaxed) < moving_since_ns;
}

void bulk::end() noexcept {
  const std::lock_guard guard(mutex_);
  client_.end();
}

bool bulk::receives() noexcept {
  const std::lock_guard guard(mutex_);
  return server_.receives() || client_.receives();
}

std::shared_ptr<bulk_access> bulk::start(bulk_verb verb, const bulk_access::target& where, std::span<std::byte> local) {
  auto fresh = client_.ask(verb, where, local);
  // Else somebody is at work, perhaps in a long call of MPI.
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) {
    const auto passing = gate_.pass();
    client_.begin_queued();
    busy_.store(true, std::memory_order_relaxed);
    moved_at_ns_.store(base::now_ns(), std::memory_order_relaxed);
  }
  return fresh;
}

access_result bulk::transfer(bulk_verb verb, const bulk_access::target& where, std::span<std::byte> local) {
  const auto mine = client_.ask(verb, where, local);
  // Two ranks that put to each other wait for each other: it serves meanwhile.
  for (base::backoff<base::backoff_schedule{.spins = 20'000, .yields = 0, .sleep_ns = 50'000}> pause;; pause.wait()) {
    serve();
    if (mine->over()) return mine->result();
  }
}

}  // namespace ham::transport::mpi
