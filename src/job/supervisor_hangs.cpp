// Nodes that hang: found by their oldest call, and ended.
#include <algorithm>
#include <cstdio>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "job/supervisor.hpp"
#include "runtime/group_calls.hpp"

namespace ham::inline v1::detail {

std::string seconds_of(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", std::chrono::duration<double>(time).count());
  return text;
}

/// mutex_ is held. never_ns: no node is to be watched.
std::int64_t supervisor::check_interval_ns() const noexcept {
  constexpr std::int64_t min_ns = 1'000'000, max_ns = 250'000'000;
  std::int64_t limit = base::never_ns;
  for (const auto& [number, one] : nodes_) {
    if (one.how->hang_after.count() > 0) limit = std::min<std::int64_t>(limit, one.how->hang_after.count());
  }
  return limit == base::never_ns ? limit : std::clamp(limit / 8, min_ns, max_ns);
}

/// Answers that have arrived, which nobody has looked at, are signs of life.
void supervisor::check_for_hangs() {
  constexpr int max_rounds = 64;
  for (int i = 0; i < max_rounds && host_.poll_once(); ++i) {
  }
  for (const hanging& one : find_hanging()) {
    base::log("job", base::log_level::warning, "node %d hangs: %s; its process is ended", one.number, one.why.c_str());
    host_.locked([&] { host_.reports.add(offload::event_kind::hang, one.number, one.why); });
    host_.end_hanging(one.process, "it hung: " + one.why);
  }
  if (host_.continuations.due()) host_.waits.wake();  // they are others' to run
}

std::vector<supervisor::hanging> supervisor::find_hanging() {
  std::vector<hanging> found;
  host_.locked([&] {
    std::lock_guard guard(mutex_);
    const std::int64_t now = base::now_ns();
    for (auto& [number, one] : nodes_) {
      const std::int64_t limit = one.how->hang_after.count();
      if (limit <= 0 || one.due) continue;
      const settling_alone nobody_else(host_.peers.at_place_of(one.process));
      const call_slot* const slot = host_.calls.oldest_to(one.process, &waits_for_others);
      const auto call = slot == nullptr ? std::nullopt : std::optional(slot->id.load(std::memory_order_relaxed));
      if (!one.hang.overdue(call, now, limit)) continue;
      one.hang.restart();  // told once
      const std::string name = slot->function == nullptr
                                   ? std::string("a call")
                                   : msg::handler_table::local().pretty_name(slot->function->key());
      found.push_back({number, one.process, "no answer to " + name + " for " + seconds_of(one.how->hang_after) + " s"});
      add_reason(one.reasons, "it hung: " + found.back().why);
      one.hung = true;
    }
  });
  return found;
}

void supervisor::on_heartbeat(node_t process) noexcept {
  std::lock_guard guard(mutex_);
  const auto found = std::ranges::find_if(nodes_, [&](const auto& one) { return one.second.process == process; });
  if (found != nodes_.end()) found->second.hang.beat(base::now_ns());
}

}  // namespace ham::detail
