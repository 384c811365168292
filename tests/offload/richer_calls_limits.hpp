// What docs/richer-calls.md promises where something is full, waits or is stopped, on whatever targets a job has: for
// tests of every kind of transport. Nothing here depends on how fast they are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <vector>

#include "offload/richer_calls.hpp"

namespace ham::inline v1::test::richer_calls {

/// Makes progress until `what()` gives something, at most a minute long.
template <class What>
[[nodiscard]] auto once_there(What what) {
  auto found = what();
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       !found.has_value() && std::chrono::steady_clock::now() < until; found = what())
    offload::progress();
  return found;
}

/// Full: a task on each node that runs, or waits there to be run, until it is stopped.
inline void expect_pool_that_refuses(const std::vector<node_t>& targets) {
  offload::pool workers{targets, {.per_node = 1, .stoppable = true}};
  std::vector<offload::future<int>> tasks;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    auto one = workers.try_async(fn<&until_stopped>);
    ASSERT_TRUE(one.has_value()) << "node " << i << " has no task yet";
    tasks.push_back(*std::move(one));
  }
  EXPECT_FALSE(workers.try_async(fn<&where>).has_value());
  EXPECT_FALSE(workers.try_async(idempotent(fn<&where>)).has_value());
  EXPECT_EQ(workers.pending(), targets.size());
  while (!tasks.empty()) {
    EXPECT_TRUE(tasks.back().request_stop());
    const std::string end = end_of(std::move(tasks.back()));
    tasks.pop_back();
    EXPECT_TRUE(end == "7" || end == "not run") << end;
    auto next = once_there([&] { return workers.try_async(fn<&where>); });
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(std::count(targets.begin(), targets.end(), next->get()), 1);
  }
}

/// Waits until it is stopped, if the number is negative.
inline int stage_that_may_wait(int value) { return value < 0 ? until_stopped() : value; }

/// Full: `in_flight` replays that have not settled.
inline void expect_graph_that_refuses(const std::vector<node_t>& targets) {
  offload::graph g;
  const auto first = g.call(targets.front(), fn<&stage_that_may_wait>, g.input<int>());
  auto step = g.compile(g.call(targets.back(), fn<&add>, first, 1), {.in_flight = 2});
  for (int i = 0; i < 3; ++i) {
    auto alone = once_there([&] { return step.try_start(i); });
    ASSERT_TRUE(alone.has_value());
    EXPECT_EQ(alone->get(), i + 1);
  }
  std::stop_source source;
  auto one = step.stoppable(source.get_token())(-1);
  auto other = step.stoppable(source.get_token())(-1);
  EXPECT_FALSE(step.try_start(1).has_value());
  EXPECT_EQ(step.in_flight(), 2U);
  source.request_stop();
  EXPECT_EQ(end_of(std::move(one)), "may have run");
  EXPECT_EQ(end_of(std::move(other)), "may have run");
  auto next = once_there([&] { return step.try_start(5); });
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->get(), 6);
}

/// 7: when it is stopped, its calls are not sent, but within a shield they are as those of any function.
inline int call_after_the_stop(node_t node) {
  if (until_stopped() != 7) return -1;
  try {
    offload::sync(node, fn<&where>);
    return -2;
  } catch (const operation_cancelled& why) {
    if (why.outcome() != call_outcome::not_run) return -3;
  }
  {
    const this_call::shield in_any_case;
    if (this_call::stop_token().stop_possible()) return -4;
    if (this_call::deadline() != std::chrono::steady_clock::time_point::max()) return -5;
    if (offload::sync(node, fn<&time_left>) != -1) return -6;
    if (offload::sync(node, fn<&where>) != node) return -7;
  }
  return this_call::stop_token().stop_requested() ? 7 : -8;
}

inline void expect_shields(const std::vector<node_t>& targets) {
  for (const node_t called : {targets.back(), node_t{0}}) {
    expect_seen_while_running([&](const std::stop_token& token) {
      return offload::async(offload::within(targets.front(), 10min, token), fn<&call_after_the_stop>, called);
    });
  }
}

inline std::atomic<int>& executed_here() {
  static std::atomic<int> of_this_process{0};
  return of_this_process;
}
inline int count_execution() { return ++executed_here(); }
inline int executed_so_far() { return executed_here(); }

/// Calls wait behind one that ends when it is stopped, which is asked of it behind all of them: their stops are there
/// by then, over transports that keep the order as over shared memory. So none of them runs.
inline void expect_queued_calls_never_run(const std::vector<node_t>& targets) {
  constexpr int at_once = 200;
  for (const node_t node : targets) {
    const int before = offload::sync(node, fn<&executed_so_far>);
    const offload::context queue(node);
    for (const offload::destination& where : {offload::destination(node), offload::destination(queue)}) {
      for (int round = 0; round < 5; ++round) {
        auto first = offload::async(offload::stoppable(where), fn<&until_stopped>);
        std::vector<offload::future<int>> waiting;
        for (int i = 0; i < at_once; ++i)
          waiting.push_back(offload::async(offload::stoppable(where), fn<&count_execution>));
        for (auto& one : waiting) EXPECT_TRUE(one.request_stop());
        EXPECT_TRUE(first.request_stop());
        for (auto& one : waiting)
          ASSERT_EQ(end_of(std::move(one)), "not run")
              << "node " << node << ", context " << where.context << ", round " << round;
        const std::string end = end_of(std::move(first));
        EXPECT_TRUE(end == "7" || end == "not run") << end;
      }
    }
    EXPECT_EQ(offload::sync(node, fn<&executed_so_far>), before);
    EXPECT_EQ(offload::sync(node, fn<&count_execution>), before + 1) << "the others would have been counted";
  }
}

inline void expect_limits() {
  std::vector<node_t> targets;
  for (node_t node = 1; node < static_cast<node_t>(offload::num_nodes()); ++node) targets.push_back(node);
  expect_pool_that_refuses(targets);
  expect_graph_that_refuses(targets);
  expect_shields(targets);
  expect_queued_calls_never_run(targets);
}

}  // namespace ham::test::richer_calls
