// Supervised nodes, as programs ask for them.
#include "ham/offload/supervise.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload {

void supervise(node_number node, supervision how) {
  ham::detail::job* const ours = ham::detail::current().owner;
  if (ours == nullptr)
    throw config_error(
        "the nodes of this job cannot be supervised (they are threads of one process, and end with it); "
        "use targets that are processes, such as HAM_NODES=shm:1");
  ours->supervise(node, std::move(how));
}

node_t process_of(node_number node) { return ham::detail::current().numbers.of(node).process; }
node_t number_of(node_number process) { return ham::detail::current().numbers.number_of(process); }

}  // namespace ham::offload

namespace ham::inline v1::detail {
namespace {

/// The sign may be behind a long answer, of which no more leaves than there is room for while a function runs. Its
/// receiver makes room meanwhile.
void flush_for_a_while(peer& to) noexcept {
  constexpr std::int64_t limit_ns = 2'000'000;
  const std::int64_t until = base::now_ns() + limit_ns;
  for (base::backoff<base::backoff_schedule{.spins = 100, .yields = 100}> pause;; pause.wait()) {
    if (to.flush_if_free() || base::now_ns() >= until) return;
  }
}

}  // namespace
}  // namespace ham::detail

namespace ham::inline v1::this_call {

void heartbeat() noexcept {
  constexpr std::int64_t interval_ns = 5'000'000;
  static constinit std::atomic<std::int64_t> last_ns{INT64_MIN / 2};  // of the process, as the sign is
  detail::engine* const at = detail::current_or_null();
  if (at == nullptr || at->owner == nullptr || at->self() == 0 || !at->numbers.any()) return;
  const std::int64_t now = base::now_ns();
  std::int64_t last = last_ns.load(std::memory_order_relaxed);
  if (now - last < interval_ns || !last_ns.compare_exchange_strong(last, now, std::memory_order_relaxed)) return;
  try {
    at->owner->send_heartbeat();
  } catch (const std::exception&) {  // no memory: the next one may have some
    return;
  }
  if (at->peers.filled_outboxes().load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  // Not what waits for other nodes, perhaps for long.
  detail::flush_for_a_while(at->peers[0]);
  if (const node_t hop = at->ways.hop_to(0); hop != 0) detail::flush_for_a_while(at->peers[hop]);
}

}  // namespace ham::this_call
