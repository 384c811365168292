// Numbers of calls are used again, after 4096 others at least; pings have none and are executed in their order.
#include "trace/call_matching.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

namespace ham::inline v1::trace {
namespace {

using base::trace_event;
using base::trace_kind;

constexpr std::uint32_t ping = 0xffffffff;

/// An event with what it is looked for by: the number of its call, or, of pings, of the function's name.
struct candidate {
  std::uint64_t key;
  std::uint64_t ticks;
  event_place at;
  friend bool operator<(const candidate& one, const candidate& other) noexcept {
    return one.key != other.key ? one.key < other.key : one.ticks < other.ticks;
  }
};

/// What happened between one node that calls and another.
struct direction {
  std::vector<candidate> sent;
  std::vector<candidate> executed;
  std::vector<candidate> settled;
};

class name_numbers {
 public:
  std::uint64_t of(const base::trace_part& part, std::uint32_t function) {
    const std::string name =
        function < part.functions.size() ? part.functions[function] : "#" + std::to_string(function);
    return numbers_.try_emplace(name, numbers_.size()).first->second;
  }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

std::map<std::pair<std::int32_t, std::int32_t>, direction> collect(const job_parts& parts) {
  std::map<std::pair<std::int32_t, std::int32_t>, direction> found;
  name_numbers names;
  constexpr std::uint64_t pings = std::uint64_t{1} << 32U;
  for (std::uint32_t part = 0; part < parts.size(); ++part) {
    for (std::uint32_t thread = 0; thread < parts[part].threads.size(); ++thread) {
      const base::trace_part::thread& all = parts[part].threads[thread];
      std::pair<std::int32_t, std::int32_t> last_pair{-1, -1};
      direction* last = nullptr;
      const auto between = [&](std::int32_t caller, std::int32_t callee) -> direction& {
        const std::pair pair{caller, callee};
        if (last == nullptr || pair != last_pair) last = &found[last_pair = pair];
        return *last;
      };
      for (std::uint32_t index = 0; index < all.events.size(); ++index) {
        const trace_event& one = all.events[index];
        const event_place at{part, thread, index};
        const auto key = [&] {
          return one.call() == ping ? pings | names.of(parts[part], one.function()) : std::uint64_t{one.call()};
        };
        switch (one.kind()) {
          case trace_kind::sent:
          case trace_kind::pinged:
            between(all.node, one.peer()).sent.push_back({key(), one.begin + one.length(), at});
            break;
          case trace_kind::settled: between(all.node, one.peer()).settled.push_back({key(), one.begin, at}); break;
          case trace_kind::executed: between(one.peer(), all.node).executed.push_back({key(), one.begin, at}); break;
          default: break;
        }
      }
    }
  }
  return found;
}

using group = std::span<const candidate>;

/// Those of one key, from `from` on.
group group_of(const std::vector<candidate>& all, std::size_t from) {
  std::size_t end = from;
  while (end < all.size() && all[end].key == all[from].key) ++end;
  return group(all).subspan(from, end - from);
}
group find_group(const std::vector<candidate>& all, std::uint64_t key) {
  const auto found = std::lower_bound(all.begin(), all.end(), candidate{key, 0, {}});
  if (found == all.end() || found->key != key) return {};
  return group_of(all, static_cast<std::size_t>(found - all.begin()));
}

/// The answer comes to the process that has called, by one clock: it is of the last call before.
void match_answers(std::span<traced_call> calls, group sent, group settled) {
  for (const candidate& answer : settled) {
    const auto behind = std::upper_bound(sent.begin(), sent.end(), answer.ticks,
                                         [](std::uint64_t ticks, const candidate& one) { return ticks < one.ticks; });
    if (behind == sent.begin()) continue;
    traced_call& call = calls[static_cast<std::size_t>(behind - sent.begin()) - 1];
    if (!call.settled) call.settled = answer.at;
  }
}

void match_executions(std::span<traced_call> calls, group sent, group executed, const common_clock& clock,
                      double slack_ns) {
  if (sent.size() == executed.size()) {
    for (std::size_t i = 0; i < sent.size(); ++i) calls[i].executed = executed[i].at;
    return;
  }
  if (!clock) return;
  for (const candidate& one : executed) {
    const double begun = clock(one.at.part, one.ticks);
    const auto behind =
        std::upper_bound(sent.begin(), sent.end(), begun + slack_ns,
                         [&](double ns, const candidate& other) { return ns < clock(other.at.part, other.ticks); });
    if (behind == sent.begin()) continue;
    traced_call& call = calls[static_cast<std::size_t>(behind - sent.begin()) - 1];
    if (!call.executed) call.executed = one.at;
  }
}

}  // namespace

std::vector<traced_call> match_calls(const job_parts& parts, const common_clock& clock, double slack_ns) {
  std::vector<traced_call> all;
  for (auto& [nodes, between] : collect(parts)) {
    for (auto* const list : {&between.sent, &between.executed, &between.settled}) std::sort(list->begin(), list->end());
    for (std::size_t at = 0; at < between.sent.size();) {
      const group sent = group_of(between.sent, at);
      const std::size_t first = all.size();
      for (const candidate& one : sent) all.push_back({one.at, {}, {}});
      const std::span<traced_call> calls = std::span(all).subspan(first);
      match_answers(calls, sent, find_group(between.settled, sent.front().key));
      match_executions(calls, sent, find_group(between.executed, sent.front().key), clock, slack_ns);
      at += sent.size();
    }
  }
  return all;
}

}  // namespace ham::trace
