// How reports of transports reach the thread that polls.
#include "core/peer_events.hpp"

#include <new>

#include "base/renew.hpp"

namespace ham::inline v1::detail {

void peer_events::post(peer_event what) {
  {
    std::lock_guard guard(mutex_);
    events_.push_back(std::move(what));
    pending_.store(true, std::memory_order_seq_cst);
  }
  waiter_.wake_if_asleep();
  if (report_listener* const listener = listener_.load(std::memory_order_acquire)) listener->on_report();
}

void peer_events::report_end(node_t node, peer_end how, const std::string& reason) noexcept {
  try {
    post({nullptr, node, how, reason});
  } catch (const std::bad_alloc&) {
    const peer_hold who = peers_.hold(node);
    if (!who) return;
    who->unreported.store(how);
    report_without_memory();
  }
}

void peer_events::report_without_memory() noexcept {
  marked_.store(true);
  announce();
}

void peer_events::report_lost(node_t node, const std::exception& why) noexcept {
  try {
    on_lost(node, why.what());
  } catch (const std::bad_alloc&) {
    on_lost(node, {});
  }
}

void peer_events::announce() noexcept {
  pending_.store(true, std::memory_order_seq_cst);
  waiter_.wake_if_asleep();
}

std::vector<peer_event> peer_events::take() noexcept {
  std::vector<peer_event> events;
  std::lock_guard guard(mutex_);
  events.swap(events_);
  pending_.store(false, std::memory_order_relaxed);
  return events;
}

void peer_events::detach_after_fork() noexcept {
  base::renew(mutex_);
  pending_.store(false);
  listener_.store(nullptr);
}

}  // namespace ham::detail
