#include "trace/call_counters.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ham::inline v1::trace {
namespace {

using base::trace_event;
using base::trace_kind;

constexpr std::int64_t max_steps = 20'000;

/// Of one node.
struct traffic {
  std::vector<std::pair<std::int64_t, int>> waiting;         ///< when one more, or less, waits
  std::vector<std::pair<std::int64_t, std::uint64_t>> sent;  ///< when so many bytes were sent
};

std::int64_t step_of(std::int64_t begin, std::int64_t end) {
  return std::max<std::int64_t>((end - begin) / max_steps, 1);
}

/// The most in each step, and the last value if it is another.
counter_series depths(std::vector<std::pair<std::int64_t, int>> changes) {
  counter_series series{"", {}};
  if (changes.empty()) return series;
  std::stable_sort(changes.begin(), changes.end(), [](const auto& one, const auto& other) {
    return one.first != other.first ? one.first < other.first : one.second > other.second;
  });
  const std::int64_t step = step_of(changes.front().first, changes.back().first);
  std::int64_t depth = 0;
  std::int64_t most = 0;
  std::int64_t step_begin = changes.front().first;
  const auto say = [&](std::int64_t at, std::int64_t value) {
    const auto real = static_cast<double>(value);
    if (series.values.empty() || series.values.back().second != real) series.values.emplace_back(at, real);
  };
  for (const auto& [at, by] : changes) {
    if (at >= step_begin + step) {
      say(step_begin, most);
      if (depth != most) say(std::min(step_begin + step, at) - 1, depth);
      step_begin = at;
      most = depth;
    }
    depth = std::max<std::int64_t>(depth + by, 0);
    most = std::max(most, depth);
  }
  say(step_begin, most);
  if (depth != most) say(changes.back().first + 1, depth);
  return series;
}

/// In steps of a millisecond at least.
counter_series rates(std::vector<std::pair<std::int64_t, std::uint64_t>> sent) {
  counter_series series{"B/s", {}};
  if (sent.empty()) return series;
  std::sort(sent.begin(), sent.end());
  constexpr std::int64_t min_step = 1'000'000;
  const std::int64_t step = std::max(step_of(sent.front().first, sent.back().first), min_step);
  for (std::size_t i = 0; i < sent.size();) {
    const std::int64_t begin = sent.front().first + (sent[i].first - sent.front().first) / step * step;
    double bytes = 0;
    for (; i < sent.size() && sent[i].first < begin + step; ++i) bytes += static_cast<double>(sent[i].second);
    series.values.emplace_back(begin, bytes * 1e9 / static_cast<double>(step));
    const bool pauses = i == sent.size() || sent[i].first >= begin + 2 * step;
    if (pauses) series.values.emplace_back(begin + step, 0);
  }
  return series;
}

void count_call(std::map<std::int32_t, traffic>& of, const job_parts& parts, const traced_call& call,
                const job_clocks& clocks) {
  const trace_event& sent = event_at(parts, call.sent);
  const std::int64_t at = std::llround(clocks.ns(call.sent.part, sent.begin + sent.length()));
  of[parts[call.sent.part].threads[call.sent.thread].node].sent.emplace_back(at, sent.bytes());
  if (!call.executed) return;
  const std::int64_t begun = std::llround(clocks.ns(call.executed.part, event_at(parts, call.executed).begin));
  if (begun <= at) return;
  traffic& there = of[parts[call.executed.part].threads[call.executed.thread].node];
  there.waiting.emplace_back(at, 1);
  there.waiting.emplace_back(begun, -1);
}

void count_event(std::map<std::int32_t, traffic>& of, counter_map& own, const base::trace_part& part, std::int32_t node,
                 const trace_event& one, std::int64_t begin, std::int64_t end) {
  switch (one.kind()) {
    case trace_kind::sent_batch: of[node].sent.emplace_back(end, one.bytes()); return;
    case trace_kind::put: of[node].sent.emplace_back(end, one.what); return;
    case trace_kind::got: of[one.peer()].sent.emplace_back(end, one.what); return;
    case trace_kind::counter: {
      const auto name = part.texts.find(one.what);
      const std::string known = name == part.texts.end() ? "unnamed" : name->second;
      own[{node, known}].values.emplace_back(begin, std::bit_cast<double>(one.whom));
      return;
    }
    default: return;
  }
}

}  // namespace

counter_map call_rates(const job_parts& parts, const std::vector<traced_call>& calls, const job_clocks& clocks) {
  std::map<std::int32_t, traffic> of;
  counter_map all;
  for (const traced_call& call : calls) count_call(of, parts, call, clocks);
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    for (const base::trace_part::thread& thread : parts[i].threads) {
      for (const trace_event& one : thread.events)
        count_event(of, all, parts[i], thread.node, one, std::llround(clocks.ns(i, one.begin)),
                    std::llround(clocks.ns(i, one.begin + one.length())));
    }
  }
  for (auto& [key, series] : all) std::stable_sort(series.values.begin(), series.values.end());
  for (auto& [node, one] : of) {
    if (!one.waiting.empty()) all[{node, "calls waiting"}] = depths(std::move(one.waiting));
    if (!one.sent.empty()) all[{node, "bytes sent per second"}] = rates(std::move(one.sent));
  }
  return all;
}

void write_counters(pftrace_writer& to, const counter_map& all,
                    const std::function<pftrace_writer::track(std::int32_t node)>& track_of) {
  for (const auto& [key, series] : all) {
    const pftrace_writer::track node = track_of(key.first);
    if (node == 0) continue;  // a peer whose part is missing
    const pftrace_writer::track on = to.add_counter(node, key.second, series.unit);
    for (const auto& [at, value] : series.values) to.count(on, at, value);
  }
}

}  // namespace ham::trace
