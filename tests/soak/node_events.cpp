#include "soak/node_events.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "ham/offload/event.hpp"
#include "soak/plants.hpp"
#include "soak/problems.hpp"

namespace soak {
namespace {

using namespace ham;
using namespace std::chrono_literals;

struct of_node {
  std::uint64_t joined = 0;
  std::uint64_t lost = 0;
  bool orderly = false;
  std::string reason;
};

std::string problem_of(node_t node, const of_node& said, bool added, std::optional<ending> how) {
  const std::string who = "node " + std::to_string(node);
  if (added && said.joined != 1) return who + " was added, and has joined " + std::to_string(said.joined) + " times";
  if (!how && said.lost != 0) return who + " was left alone, and is said to be lost";
  if (how && said.lost != 1)
    return who + " was " + text_of(*how) + ", and is said to be lost " + std::to_string(said.lost) + " times";
  // One that is removed and does not leave in time is killed.
  if (said.orderly && *how == ending::killed) return who + " was killed, which is said to be orderly: " + said.reason;
  return "";
}

}  // namespace

struct node_events::counts {
  void add(const offload::event& what) {
    const std::lock_guard guard(mutex);
    of_node& one = nodes[what.node];
    if (what.kind == offload::event_kind::joined) one.joined += what.count;
    if (what.kind != offload::event_kind::lost || planted(plant::lost_event)) return;
    one.lost += what.count;
    one.orderly = what.orderly;
    one.reason = what.reason;
  }
  /// Of the first node with one. After so many events that some were told together (node -1) nothing is known.
  [[nodiscard]] std::string problem(const seats& all) {
    const auto ended = all.ended();
    const std::lock_guard guard(mutex);
    if (const auto together = nodes.find(-1);
        together != nodes.end() && together->second.joined + together->second.lost != 0)
      return "";
    for (const node_t node : all.ever()) {
      const auto how = ended.find(node);
      std::string found = problem_of(node, nodes[node], all.was_added(node),
                                     how == ended.end() ? std::nullopt : std::optional(how->second));
      if (!found.empty()) return found;
    }
    return "";
  }

  std::mutex mutex;
  std::map<node_t, of_node> nodes;
};

node_events::node_events() : counts_(std::make_shared<counts>()) {
  offload::on_event([into = counts_](const offload::event& what) { into->add(what); });
}

node_events::~node_events() { offload::on_event({}); }

void node_events::check(const seats& all) const {
  const auto until = std::chrono::steady_clock::now() + time_limit(plant::lost_event);
  for (;;) {
    const std::string problem = counts_->problem(all);
    if (problem.empty()) return;
    if (std::chrono::steady_clock::now() > until) {
      report(problem);
      return;
    }
    offload::progress_for(1ms);
  }
}

}  // namespace soak
