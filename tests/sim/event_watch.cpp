// Events of nodes: each once, in their order, and with a reason.
#include "sim/event_watch.hpp"

#include "base/clock.hpp"
#include "ham/offload.hpp"
#include "sim/callees.hpp"
#include "sim/oracle.hpp"
#include "sim/supervision.hpp"

namespace ham::inline v1::sim {
namespace {

using offload::event_kind;

std::string process(node_t node) { return "the process of node " + std::to_string(node); }

unsigned count_of(const std::map<node_t, unsigned>& of, node_t node) {
  const auto found = of.find(node);
  return found == of.end() ? 0 : found->second;
}

/// It was started for a number that does not exist any more, or is removed before on_respawn is called, or beside one
/// that could not be started, and nobody has ever called it.
bool was_not_to_be_used(const offload::event& lost) {
  if (lost.reason == "another target of its group could not be started") return true;
  if (lost.reason == "it was removed from the job")
    return the_oracle->numbers.may_be_lost(offload::number_of(lost.node));
  return lost.reason == "it was not to be used" && the_oracle->numbers.number_of(lost.node) == lost.node;
}

}  // namespace

void event_watch::begin() {
  offload::on_event([this](const offload::event& what) {
    if (handles_one_) running->fail("an event is reported while the handler of another one runs");
    handles_one_ = true;
    note(what);
    // Now and then so long that others happen meanwhile.
    if (random_.once_in(3))
      base::sleep_ns(static_cast<std::int64_t>(random_.below(random_.once_in(3) ? 20'000'000 : 200'000)));
    handles_one_ = false;
  });
}

void event_watch::note(const offload::event& what) {
  const supervised_numbers& numbers = the_oracle->numbers;
  const bool repeats = what.kind == event_kind::queue_full || what.kind == event_kind::deadline_missed;
  if (!repeats && (what.count != 1 || what.node < 0))
    running->fail(std::string("events are counted instead of reported: ") + to_string(what.kind));
  switch (what.kind) {
    case event_kind::joined:
      if (++joined_[what.node] != 1) running->fail(process(what.node) + " is reported to have joined twice");
      if (count_of(lost_, what.node) != 0)
        running->fail(process(what.node) + " is reported to have joined behind its loss");
      break;
    case event_kind::lost:
      if (++lost_[what.node] != 1) running->fail(process(what.node) + " is reported as lost twice");
      if (!may_be_lost_(what.node) && !was_not_to_be_used(what))
        running->fail(process(what.node) + " is reported as lost without a reason: " + what.reason);
      break;
    case event_kind::respawned:
      if (++respawned_[what.node] > numbers.prepared(what.node))
        running->fail("node " + std::to_string(what.node) + " is reported to be started again more often than it was");
      break;
    case event_kind::given_up:
      if (numbers.supervises(what.node)) numbers.expect_limit_reached(what.node);
      break;
    case event_kind::hang:
      if (what.node != watched_node) running->fail("node " + std::to_string(what.node) + " is reported to hang");
      break;
    case event_kind::queue_full:
    case event_kind::deadline_missed: break;
  }
}

std::string event_watch::missing(const std::vector<node_t>& numbers) const {
  for (const node_t node : world_.targets()) {
    const bool is_first = node < first_nodes_;  // those may have joined before anybody wanted to be told
    const bool is_there = running->living_threads(world_.process_of(node)) != 0;
    const bool has_joined = is_first || count_of(joined_, node) != 0;
    if (!is_there && has_joined && count_of(lost_, node) == 0) return "the loss of " + process(node);
    if (is_there && !has_joined && !may_be_lost_(node)) return "the start of " + process(node);
  }
  for (const node_t number : numbers) {
    if (!the_oracle->numbers.supervises(number)) continue;
    if (count_of(respawned_, number) < the_oracle->numbers.prepared_to_stay(number))
      return "another process of node " + std::to_string(number);
  }
  return {};
}

void event_watch::expect_all_reported(const std::vector<node_t>& numbers) {
  constexpr std::int64_t timeout_ns = 10'000'000'000;
  const std::int64_t until = base::now_ns() + timeout_ns;
  for (;;) {
    const std::string left = missing(numbers);
    if (left.empty()) return;
    if (base::now_ns() > until) running->fail("the program is not told of " + left);
    base::sleep_ns(1'000'000);
    offload::progress();
  }
}

}  // namespace ham::sim
