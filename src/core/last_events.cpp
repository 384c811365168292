#include "core/last_events.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/printable.hpp"
#include "ham/msg/names.hpp"

namespace ham::inline v1::detail {
namespace {

using base::recorded_kind;
using base::recording;

constexpr std::size_t max_open = 3;  // that are told of
constexpr std::size_t max_past = 3;
constexpr std::size_t max_name_bytes = 200;

/// "1.2 s"; empty: not known.
std::string duration_text(std::int64_t ns) {
  if (ns < 0) return {};
  struct unit {
    double ns;
    const char* name;
  };
  constexpr std::array<unit, 3> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
  const auto found =
      std::find_if(units.begin(), units.end() - 1, [&](const unit& one) { return static_cast<double>(ns) >= one.ns; });
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", static_cast<double>(ns) / found->ns, found->name);
  return text.data();
}

std::string ago(const recording::event& one) {
  const std::string age = duration_text(one.age_ns);
  return age.empty() ? "" : " " + age + " ago";
}

std::string executing_text(const recording& of, const recording::event& one) {
  const std::string age = duration_text(one.age_ns);
  return recorded_function(of, one) + (age.empty() ? "" : " for " + age);
}

std::string past_text(const recording& of, const recording::event& one) {
  const std::string peer = std::to_string(one.peer);
  switch (one.kind) {
    case recorded_kind::sent: return "called " + recorded_function(of, one) + " on node " + peer + ago(one);
    case recorded_kind::pinged: return "pinged " + recorded_function(of, one) + " on node " + peer + ago(one);
    case recorded_kind::sent_batch:
      return "sent a batch of " + std::to_string(one.call) + " calls to node " + peer + ago(one);
    case recorded_kind::queued: return "queued " + recorded_function(of, one) + ago(one);
    default: return "executed " + recorded_function(of, one) + ago(one);
  }
}

/// Those with the least age first; an age that is not known comes last.
void sort_by_age(std::vector<const recording::event*>& events) {
  std::stable_sort(events.begin(), events.end(), [](const auto* one, const auto* other) {
    return static_cast<std::uint64_t>(one->age_ns) < static_cast<std::uint64_t>(other->age_ns);
  });
}

std::string listed(const recording& of, const std::vector<const recording::event*>& events, std::size_t most,
                   std::string (*text)(const recording&, const recording::event&), const char* between) {
  std::string result;
  for (std::size_t i = 0; i < std::min(most, events.size()); ++i)
    result += (i == 0 ? "" : between) + text(of, *events[i]);
  return result;
}

/// The function by which the host asks whether the process hangs (job/supervisor_hangs.cpp): on an idle node the last
/// events would be its calls alone.
std::uint32_t function_of_checks(const recording& of) {
  const auto found = std::find_if(of.names.begin(), of.names.end(), [](const std::string& name) {
    return name.find("answer_supervisor") != std::string::npos;
  });
  return static_cast<std::uint32_t>(found == of.names.end() ? UINT32_MAX : found - of.names.begin());
}

}  // namespace

std::string recorded_function(const recording& of, const recording::event& one) {
  if (one.function >= base::first_named_function && one.function - base::first_named_function < of.named.size())
    return base::printable(of.named[one.function - base::first_named_function], max_name_bytes);
  if (one.function >= of.names.size() || of.names[one.function].empty())
    return "function " + std::to_string(one.function);
  return base::printable(msg::pretty_name(base::printable(of.names[one.function], msg::max_name_bytes)),
                         max_name_bytes);
}

last_events describe_last_events(const recording& of) {
  const std::uint32_t checks = function_of_checks(of);
  std::vector<const recording::event*> open;
  std::vector<const recording::event*> past;
  for (const recording::thread& thread : of.threads) {
    if (!thread.open.empty() && thread.open.back().kind == recorded_kind::executing)
      open.push_back(&thread.open.back());
    for (const recording::event& one : thread.past)
      if (one.function != checks || one.kind == recorded_kind::sent_batch) past.push_back(&one);
  }
  if (open.empty() && past.empty()) return {};
  sort_by_age(open);
  sort_by_age(past);
  std::string text = "it was executing " +
                     (open.empty() ? std::string("nothing") : listed(of, open, max_open, executing_text, ", and "));
  if (!past.empty()) text += "; before that it " + listed(of, past, max_past, past_text, ", ");
  return {std::move(text), !open.empty()};
}

last_events last_events_of(node_t node, const std::vector<std::byte>& recorded) {
  const auto read = base::parse_recording(recorded);
  return read && read->node == node ? describe_last_events(*read) : last_events();
}

}  // namespace ham::detail
