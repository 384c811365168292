// What a node's waiting threads ask of it: what is due by the clock, and whether it may sleep.
#include <algorithm>

#include "base/clock.hpp"
#include "runtime/device_polling.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::int64_t limit_pause_ns = 10'000'000;    // between polls of a thread whose calls are nested too deep
constexpr std::int64_t started_pause_ns = 50'000;      // between polls of accesses that go on only by that
constexpr std::int64_t full_queue_pause_ns = 500'000;  // nobody says when a full queue has room again

}  // namespace

std::int64_t engine::check_clock(std::int64_t now, const call_slot* awaited, std::int64_t& silent_since) {
  if (now >= next_due_ns()) expire_deadlines(now);
  memory.move_started_on();
  if (now >= long_messages.due_ns()) [[unlikely]]
    trim_long_memory(now);
  if (this_thread.depth < thread_state::max_depth) [[likely]]
    return base::never_ns;
  calls_in.wait_at_limit(awaited, now, silent_since);
  return now + limit_pause_ns;
}

void engine::trim_long_memory(std::int64_t now) noexcept {
  if (!waits.try_lock()) return;
  long_messages.stop();
  receiver_.free_long_buffers();
  bool empty = true;
  for (peer* const one : peers) empty = one->trim_if_free() && empty;
  if (!empty) long_messages.start(now);
  finish_progress();
}

/// Whether the node that is to answer slept when the call was sent: a second sleep, of this side, would double the
/// wait.
bool engine::wakes_up(const call_slot& awaited) noexcept {
  if (!waits.try_lock()) return false;
  const node_t node = awaited.node.load(std::memory_order_relaxed);
  transport::endpoint* const to = peers.has(node) ? peers[node].to.operator->() : nullptr;
  const bool woken = to != nullptr && to->take_woken();
  finish_progress();
  return woken;
}

bool engine::arm() {
  if (events.pending() || !self_endpoint_.empty() || !transports_.arm()) return false;
  if (calls_on_devices.load(std::memory_order_relaxed) != 0) [[unlikely]]
    leave_device_alone(*this);
  return true;
}

std::int64_t engine::next_wakeup_ns() const noexcept {
  std::int64_t wake_at = std::min(next_due_ns(), long_messages.due_ns());
  if (peers.filled_outboxes().load() != 0) wake_at = std::min(wake_at, base::now_ns() + full_queue_pause_ns);
  if (memory.has_started()) wake_at = std::min(wake_at, base::now_ns() + started_pause_ns);
  if (const std::int64_t longest = transports_.max_sleep_ns(); longest != base::never_ns)
    wake_at = std::min(wake_at, base::now_ns() + longest);
  return wake_at;
}

}  // namespace ham::detail
