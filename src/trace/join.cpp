// Tracks: a process for each node; in it its threads, calls that wait for the node, transfers, and counters.
#include "trace/join.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "trace/call_counters.hpp"
#include "trace/job_clocks.hpp"
#include "trace/lanes.hpp"
#include "trace/pftrace_writer.hpp"
#include "trace/slice_names.hpp"
#include "trace/thread_slices.hpp"

namespace ham::inline v1::trace {
namespace {

using base::trace_event;
using base::trace_kind;
using category = pftrace_writer::category;
using text = pftrace_writer::text;

constexpr std::size_t max_lanes = 64;

/// Also of a part that somebody has made up.
std::int64_t rounded_ns(double ns) noexcept {
  constexpr double most = 4e18;
  return std::llround(std::clamp(ns, -most, most));
}

class trace_of_job {
 public:
  trace_of_job(const job_parts& parts, std::ostream& to) : parts_(parts), clocks_(parts), to_(to) {
    for (const base::trace_part& part : parts) names_.emplace_back(part, to_);
    match();
  }

  join_result write() {
    add_nodes();
    for (std::uint32_t part = 0; part < parts_.size(); ++part) write_threads(part);
    write_queues();
    write_transfers();
    write_counters(to_, call_rates(parts_, calls_, clocks_), [this](std::int32_t node) {
      const auto found = nodes_.find(node);
      return found == nodes_.end() ? 0 : found->second;
    });
    to_.flush();
    return result_;
  }

 private:
  using track = pftrace_writer::track;
  /// Arrows are numbered by call: one there, one back.
  [[nodiscard]] static std::uint64_t there(std::size_t call) noexcept { return 2 * call + 1; }
  [[nodiscard]] static std::uint64_t back(std::size_t call) noexcept { return 2 * call + 2; }
  [[nodiscard]] std::int64_t ns(std::uint32_t part, std::uint64_t ticks) const noexcept {
    return std::llround(clocks_.ns(part, ticks));
  }

  void match();
  void number_calls();
  void add_nodes();
  void add_notes(std::int32_t node, track on, const std::vector<std::uint32_t>& parts);
  void write_threads(std::uint32_t part);
  void write_thread(std::uint32_t part, std::uint32_t thread, track on);
  void write_slice(std::uint32_t part, std::uint32_t thread, const slice& one, track on);
  void write_answer(std::uint32_t part, const trace_event& one, std::size_t call, track on);
  void write_lanes(const char* name, std::int32_t node, std::vector<std::pair<slice, event_place>>& all);
  void write_queues();
  void write_transfers();
  [[nodiscard]] std::size_t call_of(const event_place& at) const noexcept {
    return call_of_[at.part][at.thread][at.index];
  }

  /// A slice of the call: one by a text is called as its execution says, which has found the function.
  [[nodiscard]] text name_of(const char* verb, std::uint32_t part, std::uint32_t function, std::size_t call) {
    if (call != no_call && calls_[call].executed) {
      const event_place& at = calls_[call].executed;
      if (const std::uint32_t named = event_at(parts_, at).function(); is_named(named))
        return names_[at.part].of(verb, named);
    }
    return names_[part].of(verb, function);
  }
  [[nodiscard]] static bool is_named(std::uint32_t function) noexcept {
    return function >= base::first_named_function && function != UINT32_MAX;
  }

  static constexpr std::uint32_t no_call = event_place::nowhere;

  const job_parts& parts_;
  job_clocks clocks_;
  pftrace_writer to_;
  std::vector<slice_names> names_;
  std::vector<traced_call> calls_;
  std::vector<std::vector<std::vector<std::uint32_t>>> call_of_;  ///< by part, thread, event
  std::map<std::int32_t, track> nodes_;
  std::map<std::int32_t, std::int64_t> pids_;
  join_result result_;
};

/// First what is certain without clocks, from which the clocks are, and the rest.
void trace_of_job::match() {
  calls_ = match_calls(parts_, {}, 0);
  clocks_.fit(parts_, calls_);
  if (std::any_of(calls_.begin(), calls_.end(), [](const traced_call& one) { return !one.executed; })) {
    double slack = 0;
    for (std::uint32_t part = 0; part < parts_.size(); ++part) slack = std::max(slack, clocks_.bound(part));
    calls_ = match_calls(
        parts_, [this](std::uint32_t part, std::uint64_t ticks) { return clocks_.ns(part, ticks); }, 2 * slack);
  }
  clocks_.widen(parts_, calls_);
  std::erase_if(calls_, [this](const traced_call& one) {
    return names_[one.sent.part].hides(event_at(parts_, one.sent).function());
  });
  number_calls();
}

void trace_of_job::number_calls() {
  for (const base::trace_part& part : parts_) {
    auto& threads = call_of_.emplace_back();
    for (const base::trace_part::thread& one : part.threads) threads.emplace_back(one.events.size(), no_call);
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const traced_call& call = calls_[i];
    const trace_event& sent = event_at(parts_, call.sent);
    ++result_.calls;
    for (const event_place& at : {call.sent, call.executed, call.settled})
      if (at) call_of_[at.part][at.thread][at.index] = static_cast<std::uint32_t>(i);
    const auto count = [&](double from, double until) {
      ++result_.arrows;
      result_.max_backwards_ns = std::max(result_.max_backwards_ns, from - until);
    };
    if (!call.executed) continue;
    const trace_event& executed = event_at(parts_, call.executed);
    count(clocks_.ns(call.sent.part, sent.begin + sent.length()), clocks_.ns(call.executed.part, executed.begin));
    if (!call.settled) continue;
    count(clocks_.ns(call.executed.part, executed.begin + executed.length()),
          clocks_.ns(call.settled.part, event_at(parts_, call.settled).begin));
  }
}

/// Viewers know processes by their pid, which nodes of several machines, or of one process, may share.
void trace_of_job::add_nodes() {
  std::map<std::int32_t, std::vector<std::uint32_t>> parts_of;
  for (std::uint32_t i = 0; i < parts_.size(); ++i) {
    std::set<std::int32_t> of{parts_[i].node};
    for (const base::trace_part::thread& one : parts_[i].threads) of.insert(one.node);
    for (const std::int32_t node : of) parts_of[node].push_back(i);
  }
  std::map<std::int64_t, std::size_t> uses;
  for (const auto& [node, of] : parts_of) ++uses[parts_[of.front()].pid];
  for (const auto& [node, of] : parts_of) {
    constexpr std::int64_t beyond_pids = 10'000'000;
    const base::trace_part& part = parts_[of.front()];
    pids_[node] = uses[part.pid] == 1 && part.pid > 0 ? part.pid : beyond_pids + node;
    const std::string name = (node == 0 ? "node 0, host: " : "node " + std::to_string(node) + ": ") + part.program +
                             " (pid " + std::to_string(part.pid) + ", " + part.machine + ")";
    nodes_[node] = to_.add_process(pids_[node], name, node);
    add_notes(node, nodes_[node], of);
  }
  result_.nodes = parts_of.size();
}

/// What readers of the trace have to know of a node's times and events.
void trace_of_job::add_notes(std::int32_t node, track on, const std::vector<std::uint32_t>& parts) {
  for (const std::uint32_t part : parts) {
    const clock_line& line = clocks_.line(part);
    const std::int64_t start = ns(part, parts_[part].start.ticks);
    const std::array notes{pftrace_writer::note{to_.intern("offset_ns"), rounded_ns(line.offset)},
                           pftrace_writer::note{to_.intern("bound_ns"), rounded_ns(std::ceil(line.bound))},
                           pftrace_writer::note{to_.intern("round_trips"), static_cast<std::int64_t>(line.samples)}};
    const bool known = line.bound >= 0;
    to_.moment(on, start, category::trace, to_.intern(known ? "clock offset" : "clock offset not known"),
               {.notes = notes});
    if (parts_[part].dropped == 0 || parts_[part].node != node) continue;
    const std::array lost{pftrace_writer::note{to_.intern("events"), static_cast<std::int64_t>(parts_[part].dropped)}};
    to_.moment(on, start, category::trace, to_.intern("events dropped"), {.notes = lost});
    result_.dropped += parts_[part].dropped;
  }
}

void trace_of_job::write_threads(std::uint32_t part) {
  for (std::uint32_t thread = 0; thread < parts_[part].threads.size(); ++thread) {
    const base::trace_part::thread& one = parts_[part].threads[thread];
    const std::int64_t pid = pids_.at(one.node);
    constexpr std::int64_t beyond_tids = 4'194'304;
    const std::int64_t tid = pid == parts_[part].pid ? one.id : pid + (one.id + 1) * beyond_tids % 1'000'000'007;
    write_thread(part, thread, to_.add_thread(pid, tid, one.name + " " + std::to_string(one.id)));
  }
}

void trace_of_job::write_thread(std::uint32_t part, std::uint32_t thread, track on) {
  const base::trace_part::thread& all = parts_[part].threads[thread];
  const std::vector<slice> slices = slices_of(all, [&](std::uint64_t ticks) { return ns(part, ticks); });
  std::vector<std::int64_t> open;
  const auto close_until = [&](std::int64_t time, bool also_at) {
    while (!open.empty() && (open.back() < time || (also_at && open.back() == time))) {
      to_.end(on, open.back());
      open.pop_back();
    }
  };
  std::uint32_t next_answer = 0;
  const auto write_answers = [&](std::int64_t until) {
    for (; next_answer < all.events.size(); ++next_answer) {
      const trace_event& one = all.events[next_answer];
      if (one.kind() != trace_kind::settled) continue;
      const std::int64_t at = ns(part, one.begin);
      if (at > until) return;
      close_until(at, false);
      write_answer(part, one, call_of({part, thread, next_answer}), on);
    }
  };
  for (const slice& one : slices) {
    write_answers(one.begin);
    if (names_[part].hides(all.events[one.index].function()) && all.events[one.index].kind() < trace_kind::slept)
      continue;
    close_until(one.begin, one.end != one.begin);
    write_slice(part, thread, one, on);
    open.push_back(one.end);
  }
  write_answers(INT64_MAX);
  close_until(INT64_MAX, true);
}

void trace_of_job::write_answer(std::uint32_t part, const trace_event& one, std::size_t call, track on) {
  if (call == no_call || !calls_[call].executed) return;
  to_.moment(on, ns(part, one.begin), category::reply, name_of("answer of ", part, one.function(), call),
             {.flow_in = back(call)});
}

void trace_of_job::write_slice(std::uint32_t part, std::uint32_t thread, const slice& one, track on) {
  const trace_event& event = parts_[part].threads[thread].events[one.index];
  slice_names& names = names_[part];
  const std::size_t call = call_of({part, thread, one.index});
  const bool known = call != no_call && calls_[call].executed;
  if (one.what == slice::of::reply) {
    const bool arrives = known && calls_[call].settled;
    to_.begin(on, one.begin, category::reply, names.of("reply to ", event.function()),
              {.flow_out = arrives ? back(call) : 0});
    return;
  }
  const std::array bytes{pftrace_writer::note{to_.intern("bytes"), event.bytes()}};
  switch (event.kind()) {
    case trace_kind::sent:
    case trace_kind::pinged:
      to_.begin(on, one.begin, category::encode,
                name_of(event.kind() == trace_kind::sent ? "call " : "ping ", part, event.function(), call),
                {.flow_out = known ? there(call) : 0, .notes = bytes});
      return;
    case trace_kind::sent_batch:
      to_.begin(on, one.begin, category::encode, to_.intern("batch of " + std::to_string(event.call()) + " calls"),
                {.notes = bytes});
      return;
    case trace_kind::executed:
      to_.begin(on, one.begin, category::execute, names.of("", event.function()), {.flow_in = known ? there(call) : 0});
      return;
    case trace_kind::stage: {
      const std::array number{pftrace_writer::note{to_.intern("stage"), event.call()}};
      to_.begin(on, one.begin, category::execute, names.of("stage ", event.function()), {.notes = number});
      return;
    }
    case trace_kind::queued:
      to_.begin(on, one.begin, category::queue, name_of("queue ", part, event.function(), call), {});
      return;
    case trace_kind::waited: {
      const bool of_call = event.function() != UINT32_MAX;
      to_.begin(on, one.begin, category::wait, of_call ? names.of("wait for ", event.function()) : to_.intern("wait"),
                {});
      return;
    }
    case trace_kind::slept: to_.begin(on, one.begin, category::sleep, to_.intern("sleep"), {}); return;
    default: to_.begin(on, one.begin, category::span, names.of_text(event.what), {});
  }
}

void trace_of_job::write_lanes(const char* name, std::int32_t node, std::vector<std::pair<slice, event_place>>& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& one, const auto& other) { return one.first.begin < other.first.begin; });
  lanes free(max_lanes);
  std::vector<track> tracks;
  std::int64_t hidden = 0;
  for (const auto& [one, at] : all) {
    const auto lane = free.place(one.begin, one.end);
    if (!lane) {
      ++hidden;
      continue;
    }
    if (*lane == tracks.size()) tracks.push_back(to_.add_track(nodes_.at(node), name));
    const trace_event& event = event_at(parts_, at);
    if (event.kind() == trace_kind::put || event.kind() == trace_kind::got) {
      const std::array notes{pftrace_writer::note{to_.intern("bytes"), static_cast<std::int64_t>(event.what)},
                             pftrace_writer::note{to_.intern("peer"), event.peer()}};
      const bool put = event.kind() == trace_kind::put;
      to_.begin(tracks[*lane], one.begin, category::transfer,
                to_.intern((put ? "put to node " : "get from node ") + std::to_string(event.peer())), {.notes = notes});
    } else {
      to_.begin(tracks[*lane], one.begin, category::queue, name_of("queue ", at.part, event.function(), call_of(at)),
                {});
    }
    to_.end(tracks[*lane], one.end);
  }
  if (hidden == 0) return;
  const std::array notes{pftrace_writer::note{to_.intern("slices"), hidden}};
  to_.moment(nodes_.at(node), all.front().first.begin, category::trace,
             to_.intern(std::string(name) + ": more at once than are shown"), {.notes = notes});
}

/// A call waits for its node from its sending until it is executed.
void trace_of_job::write_queues() {
  std::map<std::int32_t, std::vector<std::pair<slice, event_place>>> of;
  for (const traced_call& call : calls_) {
    if (!call.executed || call_of(call.sent) == no_call) continue;
    const trace_event& sent = event_at(parts_, call.sent);
    const std::int64_t begin = ns(call.sent.part, sent.begin + sent.length());
    const std::int64_t end = ns(call.executed.part, event_at(parts_, call.executed).begin);
    const std::int32_t node = parts_[call.executed.part].threads[call.executed.thread].node;
    if (end > begin) of[node].push_back({{begin, end, 0, slice::of::event}, call.sent});
  }
  for (auto& [node, all] : of) write_lanes("queue", node, all);
}

void trace_of_job::write_transfers() {
  std::map<std::int32_t, std::vector<std::pair<slice, event_place>>> of;
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    for (std::uint32_t thread = 0; thread < parts_[part].threads.size(); ++thread) {
      const base::trace_part::thread& all = parts_[part].threads[thread];
      for (std::uint32_t i = 0; i < all.events.size(); ++i) {
        const trace_event& one = all.events[i];
        if (one.kind() != trace_kind::put && one.kind() != trace_kind::got) continue;
        of[all.node].push_back(
            {{ns(part, one.begin), ns(part, one.begin + one.length()), 0, slice::of::event}, {part, thread, i}});
      }
    }
  }
  for (auto& [node, all] : of) write_lanes("transfers", node, all);
}

}  // namespace

join_result write_trace(const job_parts& parts, std::ostream& to) { return trace_of_job(parts, to).write(); }

}  // namespace ham::trace
