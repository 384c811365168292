#include "last.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "duration_text.hpp"

namespace ham::inline v1::trace {
namespace {

constexpr std::uint32_t no_number = 0xffffffff;

/// Ten characters, the points and the units below each other: "    1.2 s ", "   12.3 ms"; a dash: not known.
std::string age_text(double seconds) {
  constexpr std::size_t width = 10;
  std::string text = seconds < 0 ? "-" : duration_text(seconds * 1e9, 1);
  if (text.ends_with(" s")) text += ' ';
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// "call 5 of node 0", "call 5 to node 2"; a batch has no number, but a size.
std::string peer_text(const node_recording::event& one) {
  using action = node_recording::action;
  const std::string node = "node " + std::to_string(one.peer);
  if (one.what == action::sent_batch) return std::to_string(one.call) + " calls to " + node;
  const bool sent = one.what == action::called || one.what == action::pinged;
  const std::string call = one.call == no_number ? "ping" : "call " + std::to_string(one.call);
  return call + (sent ? " to " : " of ") + node;
}

void print_event(std::ostream& out, const node_recording::event& one) {
  std::array<char, 16> what{};
  std::snprintf(what.data(), what.size(), "%-10s", to_string(one.what));
  out << "    " << age_text(one.age_s) << "  " << what.data() << "  " << one.function
      << (one.function.empty() ? "" : "  ") << "(" << peer_text(one) << ")\n";
}

}  // namespace

void print_last(std::ostream& out, const std::vector<node_recording>& job, std::size_t max_events) {
  for (const node_recording& node : job) {
    out << "node " << node.node << ", pid " << node.pid << (node.alive ? "" : ", dead") << "\n";
    if (node.threads.empty()) out << "  has recorded nothing\n";
    for (const node_recording::thread& thread : node.threads) {
      out << "  thread " << thread.id << "\n";
      for (auto one = thread.executing.rbegin(); one != thread.executing.rend(); ++one) print_event(out, *one);
      const std::size_t count = std::min(max_events, thread.past.size());
      for (std::size_t i = 0; i < count; ++i) print_event(out, thread.past[i]);
    }
  }
}

}  // namespace ham::trace
