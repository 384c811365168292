// Calls that are stopped while they wait or run: by their futures, by tokens, by deadlines.
#include <chrono>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "soak/verbs.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;
using offload::async;
using offload::stoppable;
using offload::when_stopped;
using offload::within;

when_stopped any_way(worker& self) { return self.below(3) == 0 ? when_stopped::at_once : when_stopped::after_answer; }

void wait_a_little(worker& self) {
  if (self.below(2) == 0) std::this_thread::sleep_for(std::chrono::microseconds(self.below(200)));
}

/// What becomes of a call that was asked to stop: it ran and has seen it, or never ran, or nobody knows.
void take_stopped(worker& self, offload::future<std::uint64_t> result, stamp made, node_t node, std::uint64_t number,
                  when_stopped how) {
  try {
    const std::uint64_t value = result.get();
    self.expect(made, runs::once);
    if (value != mixed(number)) self.wrong(node, "the result is wrong");
  } catch (const operation_cancelled& why) {
    if (why.outcome() == call_outcome::not_run)
      self.expect(made, runs::never);
    else if (how == when_stopped::after_answer)
      self.wrong(node, std::string("nobody knows what a stopped call has done: ") + why.what());
  } catch (const node_failure& why) {
    self.lost(made, node, why);
  }
}

/// Of two nodes, one of which has called the other, when either has been removed in order: it says of the other that
/// the job has ended.
bool may_be_of_removed(worker& self, node_t outer, node_t inner, const node_failure& why) {
  const bool of_removed =
      why.node() == 0 || std::string_view(why.what()).find("the job has ended") != std::string::npos;
  return of_removed && (self.gone(outer) || self.gone(inner));
}

}  // namespace

/// Each polls until it is told; those behind it wait in the queue.
void stop_verb(worker& self) {
  const node_t node = self.any_node();
  struct stopped {
    stamp made;
    std::uint64_t number;
    offload::future<std::uint64_t> result;
    when_stopped how = when_stopped::after_answer;
  };
  std::vector<stopped> calls;
  const std::uint64_t count = 1 + self.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const stamp call = self.claim();
    const std::uint64_t number = self.random();
    calls.push_back({call, number, async(stoppable(node), fn<&until_stopped>, call, number)});
  }
  wait_a_little(self);
  // In any order: a running one ends when it is told, one that waits is taken out.
  for (std::size_t i = calls.size(); i > 1; --i) std::swap(calls[i - 1], calls[self.below(i)]);
  for (stopped& one : calls) {
    one.how = any_way(self);
    one.result.request_stop(one.how);
  }
  for (stopped& one : calls) take_stopped(self, std::move(one.result), one.made, node, one.number, one.how);
}

/// One token for calls to several nodes, one of which calls another: that call is stopped with it.
void token_verb(worker& self) {
  std::stop_source source;
  const when_stopped how = any_way(self);
  struct stopped {
    stamp made;
    node_t node;
    std::uint64_t number;
    offload::future<std::uint64_t> result;
  };
  std::vector<stopped> calls;
  for (std::size_t seat = 0; seat < self.nodes(); ++seat) {
    const node_t node = self.node_at(seat);
    if (self.gone(node)) continue;
    self.on_node(node);
    const stamp call = self.claim();
    const std::uint64_t number = self.random();
    try {
      calls.push_back(
          {call, node, number, async(stoppable(node, source.get_token(), how), fn<&until_stopped>, call, number)});
    } catch (const node_failure& why) {
      self.lost(call, node, why);
    }
  }
  const node_t outer = self.any_node();
  const node_t inner = self.node_at(self.below(self.nodes()));
  const stamp made = self.claim();
  const stamp below = self.claim();
  offload::future<bool> both;
  if (outer != inner) {
    try {
      both = async(stoppable(outer, source.get_token()), fn<&until_both_are_stopped>, made, below, inner);
    } catch (const node_failure& why) {
      self.lost(made, outer, why);
    }
  }
  wait_a_little(self);
  source.request_stop();
  for (stopped& one : calls) take_stopped(self, std::move(one.result), one.made, one.node, one.number, how);
  const stamp afterwards = self.claim();
  try {
    static_cast<void>(
        offload::sync(stoppable(self.node_at(0), source.get_token()), fn<&work>, afterwards, std::uint64_t{1}));
    self.wrong(self.node_at(0), "a call ran though its token was stopped before");
  } catch (const operation_cancelled&) {
    self.expect(afterwards, runs::never);
  }
  if (!both.valid()) return;
  try {
    if (!both.get()) self.wrong(outer, "a call within a stopped one was not stopped with it");
    self.expect(made, runs::once);
  } catch (const operation_cancelled& why) {
    if (why.outcome() == call_outcome::not_run) self.expect(made, runs::never);
  } catch (const node_failure& why) {
    if (!may_be_of_removed(self, outer, inner, why)) self.lost(made, outer, why);
  }
}

/// What a function calls behind a shield, after it was stopped, is not stopped with it.
void shield_verb(worker& self) {
  const node_t node = self.any_node();
  const node_t other = node == self.node_at(0) ? 0 : self.node_at(0);
  const stamp made = self.claim();
  const stamp below = self.claim();
  const std::uint64_t number = self.random();
  auto result = async(stoppable(node), fn<&shielded>, made, below, other, number);
  wait_a_little(self);
  result.request_stop();
  try {
    const std::uint64_t value = result.get();
    self.expect(made, runs::once);
    self.expect(below, runs::once);
    if (value != mixed(number)) self.wrong(node, "a shield lets a stop or a deadline through");
  } catch (const operation_cancelled& why) {
    self.expect(below, runs::never);
    if (why.outcome() == call_outcome::not_run)
      self.expect(made, runs::never);
    else
      self.wrong(node, std::string("a call behind a shield was stopped: ") + why.what());
  } catch (const node_failure& why) {
    if (!may_be_of_removed(self, node, other, why)) self.lost(made, node, why);
  }
}

/// Functions see until when their caller waits.
void time_verb(worker& self) {
  constexpr std::uint64_t seconds = 50;
  const node_t node = self.any_node();
  const stamp made[] = {self.claim(), self.claim()};
  self.take(async(node, fn<&has_time>, made[0], std::uint64_t{0}), made[0], node, true);
  self.take(async(within(node, std::chrono::seconds(seconds)), fn<&has_time>, made[1], seconds), made[1], node, true);
}

/// The deadline tells the functions: that they have seen it shows in stops_that_never_came().
void late_stop_verb(worker& self) {
  const node_t node = self.any_node();
  for (int i = 0; i < 3; ++i) {
    const stamp call = self.claim();
    const std::uint64_t number = self.random();
    try {
      const auto limit = std::chrono::microseconds(20 + self.below(500));
      const std::uint64_t value = offload::sync(within(node, limit), fn<&until_stopped>, call, number);
      self.expect(call, runs::once);
      if (value != mixed(number)) self.wrong(node, "the result is wrong");
    } catch (const deadline_exceeded& why) {
      if (why.outcome() == call_outcome::not_run) self.expect(call, runs::never);
    } catch (const operation_cancelled& why) {
      if (why.outcome() == call_outcome::not_run) self.expect(call, runs::never);
    } catch (const node_failure& why) {
      self.lost(call, node, why);
    }
  }
}

}  // namespace soak
