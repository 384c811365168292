// Nodes that hang: found by their oldest call, and ended.
#include <algorithm>
#include <cstdio>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "ham/offload/call.hpp"
#include "job/supervisor.hpp"
#include "runtime/group_calls.hpp"

namespace ham::inline v1::detail {
namespace {

/// What the main queue of a process that is watched executes in between, so that it is known not to hang. Texts of what
/// a process did last leave it out by its name (core/last_events.cpp).
void answer_supervisor() {}

msg::handler_entry& answering_function() noexcept {
  return offload::detail::call_of<fn_t<void (*)(), &answer_supervisor>>::message::entry();
}

}  // namespace

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
      std::string why;
      bool awaited = false;
      {
        const settling_alone nobody_else(host_.peers.at_place_of(one.process));
        const call_slot* const slot = host_.calls.oldest_to(one.process, &waits_for_others);
        awaited = slot != nullptr;
        const auto call = awaited ? std::optional(slot->id.load(std::memory_order_relaxed)) : std::nullopt;
        if (host_.peers.has(one.process)) one.hang.see_pieces(host_.peers[one.process].fragments.pieces(), now);
        if (one.hang.overdue(call, now, limit)) why = text_of_hang(one, *slot);
      }
      if (!awaited && now - one.checked_ns >= limit / 2) check_idle(one, now);
      if (why.empty()) continue;
      one.hang.restart();  // told once
      found.push_back({number, one.process, std::move(why)});
      add_reason(one.reasons, "it hung: " + found.back().why);
      one.hung = true;
    }
  });
  return found;
}

std::string supervisor::text_of_hang(const watched& one, const call_slot& oldest) const {
  const std::string time = seconds_of(one.how->hang_after) + " s";
  if (oldest.id.load(std::memory_order_relaxed) == one.check) {
    const std::string activity = host_.activity_of(one.process);
    return "its main queue has begun no call for " + time + (activity.empty() ? "" : "; ") + activity;
  }
  const std::string name = oldest.function == nullptr ? std::string("a call")
                                                      : msg::handler_table::local().pretty_name(oldest.function->key());
  return "no answer to " + name + " for " + time;
}

/// The host waits for nothing of the process, which may hang in what others have asked it for: it is sent an empty
/// call, which waits for its turn as others do, and for whose answer nobody waits. The receiving lock is held. Past the
/// counters, faults and recordings of calls of the program.
void supervisor::check_idle(watched& one, std::int64_t now_ns) noexcept {
  if (!host_.peers.is_ready(one.process)) return;
  peer& to = host_.peers[one.process];
  if (to.to == nullptr) return;
  one.checked_ns = now_ns;
  try {
    msg::handler_entry& function = answering_function();
    const std::uint32_t key = to.key_for(function, function.key() + 1, host_.self());
    call_slot& slot = host_.calls.claim();
    slot.decode = nullptr;
    slot.function = nullptr;
    slot.deadline_ns = 0;
    slot.orphan = true;
    slot.node.store(one.process, std::memory_order_release);
    {
      const std::lock_guard sending(to.sending);
      slot.position = to.to->sent();
    }
    const std::uint32_t id = slot.id.load(std::memory_order_relaxed);
    slot.state.store(slot_state::pending, std::memory_order_release);
    slot.reply_due.store(true, std::memory_order_release);
    one.check = id;
    host_.replies.reply_with(to, frame_header::flagged_call(key, id, 0), {});
  } catch (const call_error&) {      // of a release that does not have it; or a million calls are pending
  } catch (const std::bad_alloc&) {  // the next one may have some
  }
}

void supervisor::on_heartbeat(node_t process) noexcept {
  std::lock_guard guard(mutex_);
  const auto found = std::ranges::find_if(nodes_, [&](const auto& one) { return one.second.process == process; });
  if (found != nodes_.end()) found->second.hang.beat(base::now_ns());
}

}  // namespace ham::detail
