#include "trace/job_clocks.hpp"

#include <algorithm>
#include <cmath>

namespace ham::inline v1::trace {
namespace {

using base::trace_event;

bool share_clock(const base::trace_part& one, const base::trace_part& other) noexcept {
  const bool known = one.boot[0] != 0 || one.boot[1] != 0;
  return known && one.boot[0] == other.boot[0] && one.boot[1] == other.boot[1] && one.source == other.source;
}

/// When the answer left: its arrow begins there.
std::uint64_t end_of(const trace_event& one) noexcept { return one.begin + one.length(); }

}  // namespace

job_clocks::job_clocks(const job_parts& parts) : clocks_(parts.size()) {
  if (parts.empty()) return;
  const auto host = std::find_if(parts.begin(), parts.end(), [](const base::trace_part& one) { return one.node == 0; });
  reference_ = host == parts.end() ? 0 : static_cast<std::uint32_t>(host - parts.begin());
  const base::trace_part& of = parts[reference_];
  base_ns_ = static_cast<double>(of.start.ns);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const base::trace_part& part = parts[i];
    part_clock& clock = clocks_[i];
    clock.is_shared = share_clock(part, of);
    const base::trace_part& by = clock.is_shared ? of : part;
    clock.start_ticks = by.start.ticks;
    clock.tick_ns = by.tick_ns();
    for (const base::trace_part::thread& thread : part.threads) {
      for (const trace_event& one : thread.events)
        clock.end = std::max(clock.end, local(static_cast<std::uint32_t>(i), end_of(one)));
    }
    // Where nothing else is known, as if the clocks of the machines agreed.
    if (!clock.is_shared) clock.line.offset = static_cast<double>(part.start.ns) - base_ns_;
  }
  clocks_[reference_].line.bound = 0;
}

void job_clocks::fit(const job_parts& parts, const std::vector<traced_call>& calls) {
  std::vector<std::vector<offset_limits>> samples(clocks_.size());
  for (const traced_call& call : calls) {
    if (!call.executed || call.executed.part == call.sent.part) continue;
    const bool from_host = call.sent.part == reference_;
    if (!from_host && call.executed.part != reference_) continue;
    const std::uint32_t part = from_host ? call.executed.part : call.sent.part;
    const trace_event& executed = event_at(parts, call.executed);
    const double sent = local(call.sent.part, end_of(event_at(parts, call.sent)));
    const double begun = local(call.executed.part, executed.begin);
    const double answered = local(call.executed.part, end_of(executed));
    offset_limits one;
    one.at = from_host ? begun : sent;
    (from_host ? one.least : one.most) = from_host ? sent - begun : begun - sent;
    if (call.settled) {
      const double settled = local(call.settled.part, event_at(parts, call.settled).begin);
      (from_host ? one.most : one.least) = from_host ? settled - answered : answered - settled;
    }
    samples[part].push_back(one);
  }
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    if (i == reference_ || samples[i].empty()) continue;
    const clock_line line = fit_clock(samples[i], clocks_[i].is_shared, 0, clocks_[i].end);
    if (line.bound >= 0) clocks_[i].line = line;
  }
}

void job_clocks::widen(const job_parts& parts, const std::vector<traced_call>& calls) {
  for (const traced_call& call : calls) {
    if (!call.executed || call.executed.part == call.sent.part) continue;
    const trace_event& executed = event_at(parts, call.executed);
    const double sent = ns(call.sent.part, end_of(event_at(parts, call.sent)));
    widen(call.sent.part, call.executed.part, sent - ns(call.executed.part, executed.begin));
    if (!call.settled) continue;
    widen(call.sent.part, call.executed.part,
          ns(call.executed.part, end_of(executed)) - ns(call.settled.part, event_at(parts, call.settled).begin));
  }
}

void job_clocks::widen(std::uint32_t one, std::uint32_t other, double backwards_ns) noexcept {
  const double stated = std::max(bound(one), 0.0) + std::max(bound(other), 0.0);
  if (backwards_ns <= stated) return;
  double& raised = clocks_[one == reference_ ? other : one].line.bound;
  raised = std::max(raised, 0.0) + backwards_ns - stated;
}

}  // namespace ham::trace
