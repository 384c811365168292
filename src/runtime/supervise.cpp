// Supervised nodes, as programs ask for them.
#include "ham/offload/supervise.hpp"

#include <exception>
#include <utility>

#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v0::offload {

void supervise(node_number node, supervision how) {
  ham::detail::job* const ours = ham::detail::current().owner;
  if (ours == nullptr)
    throw config_error("the nodes of this job cannot be supervised (they are threads of one process, and end with it)");
  ours->supervise(node, std::move(how));
}

node_t process_of(node_number node) { return ham::detail::current().numbers.of(node).process; }
node_t number_of(node_number process) { return ham::detail::current().numbers.number_of(process); }

}  // namespace ham::offload

namespace ham::inline v0::this_call {

void heartbeat() noexcept {
  constexpr std::int64_t interval_ns = 5'000'000;
  thread_local std::int64_t last_ns = INT64_MIN / 2;
  detail::engine* const at = detail::current_or_null();
  if (at == nullptr || at->owner == nullptr || !at->numbers.any()) return;
  const std::int64_t now = base::now_ns();
  if (now - last_ns < interval_ns) return;
  last_ns = now;
  try {
    at->owner->send_heartbeat();
  } catch (const std::exception&) {  // no memory: the next one may have some
    return;
  }
}

}  // namespace ham::this_call
