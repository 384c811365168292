// What docs/richer-calls.md promises, in short, on whatever targets a job has: for tests of every kind of transport.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload.hpp"
#include "ham/offload/graph.hpp"
#include "ham/offload/group.hpp"
#include "ham/offload/pool.hpp"
#include "ham/offload/retry.hpp"
#include "ham/offload/senders.hpp"

namespace ham::inline v1::test {

namespace richer_calls {

using namespace std::chrono_literals;

/// Runs until it is stopped, or for a long time.
inline int until_stopped() {
  const auto stop = this_call::stop_token();
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (std::chrono::steady_clock::now() < until)
    if (stop.stop_requested()) return 7;
  return -1;
}
struct stage_ends {
  std::atomic<int> begun{0};
  std::atomic<int> stopped{0};
};
inline stage_ends& stage_ends_here() {
  static stage_ends of_this_process;
  return of_this_process;
}
inline int stage_until_stopped(int value) {
  ++stage_ends_here().begun;
  if (until_stopped() == 7) ++stage_ends_here().stopped;
  return value;
}
/// How many stages have run here, or -1: not all of them were stopped.
inline int stopped_stages() {
  const stage_ends& ends = stage_ends_here();
  return ends.begun == ends.stopped ? ends.begun.load() : -1;
}
inline int stopped_there(node_t node) { return offload::sync(node, fn<&until_stopped>); }
inline std::int64_t time_left() {
  const auto until = this_call::deadline();
  if (until == std::chrono::steady_clock::time_point::max()) return -1;
  return std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
}
inline std::int64_t time_left_there(node_t node) { return offload::sync(node, fn<&time_left>); }
inline int add(int left, int right) { return left + right; }
inline int twice(int value) { return 2 * value; }
inline bool is_large(int value) { return value >= 1000; }
inline bool never(int /*unused*/) { return false; }
inline int refuse_negative(int value) {
  if (value < 0) throw std::out_of_range("negative");
  return value;
}
inline node_t where() { return offload::this_node(); }
inline double first_of(offload::buffer_ptr<double> values) { return values[0]; }
inline double own_first(const std::vector<offload::buffer_ptr<double>>& of) {
  return of.at(*this_call::group_position())[0];
}

/// What a call that may not have begun when it was stopped may end with.
template <class Result>
[[nodiscard]] std::string end_of(offload::future<Result> of) {
  try {
    return std::to_string(of.get());
  } catch (const operation_cancelled& why) {
    return why.outcome() == call_outcome::not_run ? "not run" : "may have run";
  } catch (const deadline_exceeded& why) {
    return why.outcome() == call_outcome::not_run ? "late, not run" : "late";
  }
}

/// Calls that this makes are stopped while they run, after some attempts: on a loaded machine not all have begun.
template <class Start>
void expect_seen_while_running(Start start) {
  for (auto time = 1ms; time < 60s; time *= 2) {
    std::stop_source source;
    auto call = start(source.get_token());
    std::this_thread::sleep_for(time);
    source.request_stop();
    const std::string end = end_of(std::move(call));
    if (end == "7") return;
    ASSERT_EQ(end, "not run");
  }
  ADD_FAILURE() << "no function has seen its stop";
}

inline void expect_stops(const std::vector<node_t>& targets) {
  for (const node_t node : targets) {
    expect_seen_while_running([&](const std::stop_token& token) {
      return offload::async(offload::stoppable(node, token), fn<&until_stopped>);
    });
    auto running = offload::async(offload::stoppable(node), fn<&until_stopped>);
    auto behind = offload::async(offload::stoppable(node), fn<&until_stopped>);
    EXPECT_TRUE(behind.request_stop());
    EXPECT_TRUE(running.request_stop());
    for (auto* const one : {&running, &behind}) {
      const std::string end = end_of(std::move(*one));
      EXPECT_TRUE(end == "7" || end == "not run") << end;
    }
    auto dropped = offload::async(offload::stoppable(node), fn<&until_stopped>);
    EXPECT_TRUE(dropped.request_stop(offload::when_stopped::at_once));
    EXPECT_TRUE(dropped.test());
    EXPECT_NE(end_of(std::move(dropped)), "7");
    const std::string late = end_of(offload::async(offload::within(node, 20ms), fn<&until_stopped>));
    EXPECT_NE(late, "-1");
    EXPECT_EQ(offload::sync(node, fn<&time_left>), -1);
    const std::int64_t left = offload::sync(offload::within(node, 10min), fn<&time_left_there>, targets.back());
    EXPECT_GT(left, 0);
    EXPECT_LE(left, 600'000);
  }
  auto through = offload::async(offload::stoppable(targets.front()), fn<&stopped_there>, targets.back());
  EXPECT_TRUE(through.request_stop());
  const std::string end = end_of(std::move(through));
  EXPECT_TRUE(end == "not run" || end == "may have run" || end == "7") << end;
}

/// Tokens where there is no function that could ask.
inline void expect_stopped_transfers(const std::vector<node_t>& targets) {
  std::vector<double> here(300'000);  // more than one part
  std::iota(here.begin(), here.end(), 1.0);
  for (const node_t node : targets) {
    std::stop_source source;
    const auto to = offload::stoppable(node, source.get_token());
    const offload::buffer<double> there(to, here.size());
    const offload::buffer<double> elsewhere(targets.back(), here.size());
    std::vector<double> back(here.size());
    offload::put(to, here, there).get();
    offload::copy(to, there, elsewhere).get();
    offload::get_sync(offload::within(targets.back(), 10min, source.get_token()), elsewhere, back);
    EXPECT_EQ(back, here);
    const offload::context queue(to);
    EXPECT_EQ(offload::sync(queue, fn<&where>), node);
    source.request_stop();
    EXPECT_THROW(offload::put(to, back, there).get(), operation_cancelled);
    EXPECT_THROW(offload::get(to, there, back).get(), operation_cancelled);
    EXPECT_THROW(static_cast<void>(offload::allocate<double>(to, 1)), operation_cancelled);
    EXPECT_EQ(offload::sync(node, fn<&first_of>, there.ptr()), 1.0);
  }
}

/// Functions that run see the end of their replay, on the node that it starts on and behind another one.
inline void expect_stopped_stages(const std::vector<node_t>& targets) {
  for (const node_t before : {targets.back(), targets.front()}) {
    offload::graph g;
    const auto first = g.call(before, fn<&refuse_negative>, g.input<int>());
    auto step = g.compile(g.call(targets.back(), fn<&stage_until_stopped>, first));
    const int at_first = offload::sync(targets.back(), fn<&stopped_stages>);
    int now = at_first;
    for (int ms = 1; ms < 60'000 && now == at_first; ms *= 2) {  // on a loaded machine it may not have begun
      const std::string end = end_of(step.within(std::chrono::milliseconds(ms))(1));
      EXPECT_TRUE(end == "1" || end.starts_with("late")) << end;
      now = offload::sync(targets.back(), fn<&stopped_stages>);
    }
    EXPECT_GT(now, at_first);
    for (int ms = 1; ms < 60'000; ms *= 2) {
      const int last = now;
      auto running = step.stoppable()(1);
      EXPECT_FALSE(running.wait_for(std::chrono::milliseconds(ms)));  // this node may be what brings targets together
      running.request_stop();
      EXPECT_EQ(end_of(std::move(running)), "may have run");
      now = offload::sync(targets.back(), fn<&stopped_stages>);
      if (now != last) break;
    }
    EXPECT_GT(now, at_first + 1);
  }
}

/// Stages that move data: from this node through all targets and back, in each replay what it holds then.
inline void expect_moved_round(const std::vector<node_t>& targets) {
  std::vector<double> here(40'000), back(here.size());
  std::vector<offload::buffer<double>> there;
  for (const node_t node : targets) there.emplace_back(node, here.size());
  offload::graph g;
  auto last = g.put(here, there.front());
  for (std::size_t i = 1; i < there.size(); ++i)
    last = g.copy(there[i - 1].ptr(), there[i].ptr(), here.size()).after(last);
  auto round = g.compile(g.get(there.back(), back).after(last));
  for (const double first : {1.0, -7.5}) {
    std::iota(here.begin(), here.end(), first);
    round().get();
    EXPECT_EQ(back, here);
  }
  auto beyond = g.compile(g.copy(there.front().ptr(), there.back().ptr() + 1, here.size()).name("too far"));
  try {
    beyond().get();
    ADD_FAILURE() << "it has copied more than the memory holds";
  } catch (const stage_error& why) {
    EXPECT_EQ(why.name(), "too far");
    EXPECT_EQ(why.node(), targets.back());
  }
}

inline void expect_graphs(const std::vector<node_t>& targets) {
  const double put_by_a_stage = 2.5;
  const offload::buffer<double> memory(targets.back(), 1);
  offload::graph g;
  auto in = g.input<int>();
  auto at = g.call(targets.front(), fn<&refuse_negative>, in).name("check");
  for (const node_t node : targets) at = g.call(node, fn<&add>, at, 1);
  auto chain = g.compile(at, {.in_flight = 4});
  std::vector<offload::future<int>> replays;
  for (int i = 0; i < 50; ++i) replays.push_back(chain(i));
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(replays[static_cast<std::size_t>(i)].get(), i + static_cast<int>(targets.size()));
  EXPECT_THROW(static_cast<void>(chain(-1).get()), stage_error);
  EXPECT_EQ(chain.within(10min)(1).get(), 1 + static_cast<int>(targets.size()));

  const auto body = [&](offload::graph_value<int> value) {
    return g.call(targets.back(), fn<&twice>, g.call(targets.front(), fn<&twice>, value));
  };
  EXPECT_EQ(g.compile(g.repeat(in, body, fn<&is_large>))(1).get(), 1024);
  auto endless = g.compile(g.repeat(in, body, fn<&never>));
  std::stop_source source;
  auto running = endless.stoppable(source.get_token())(0);
  std::this_thread::sleep_for(5ms);
  source.request_stop();
  EXPECT_EQ(end_of(std::move(running)), "may have run");
  EXPECT_EQ(end_of(endless.within(20ms)(0)), "late");
  auto here = g.compile(g.repeat(
      in, [&](offload::graph_value<int> value) { return g.call(0, fn<&twice>, value); }, fn<&never>));
  EXPECT_EQ(end_of(here.within(20ms)(0)), "late") << "this thread executes it";

  offload::graph moving;
  auto stored = moving.put(&put_by_a_stage, memory.ptr(), 1);
  auto seen = moving.call(targets.back(), fn<&first_of>, memory.ptr()).after(stored);
  EXPECT_EQ(moving.compile(seen)().get(), 2.5);
  expect_moved_round(targets);
  expect_stopped_stages(targets);
}

/// Results as they come, and how far it is.
inline void expect_maps(offload::pool& workers) {
  const auto caller = std::this_thread::get_id();
  std::vector<int> numbers(500), times(500);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<std::size_t> progress;
  const auto count_one = [&](std::size_t at, int result) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(result, 2 * static_cast<int>(at));
    ++times.at(at);
  };
  const auto note = [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(total, numbers.size());
    progress.push_back(done);
  };
  workers.map(numbers, fn<&twice>, count_one, {.chunk = 16, .on_progress = note});
  EXPECT_EQ(times, std::vector<int>(numbers.size(), 1));
  EXPECT_EQ(progress.size(), 32U) << "chunks of 16, and one of 4";
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_EQ(progress.empty() ? 0 : progress.back(), numbers.size());
  numbers[250] = -1;
  EXPECT_THROW(workers.map(numbers, fn<&refuse_negative>, [](std::size_t, int) {}), std::out_of_range);
  const auto stop_at_once = [](std::size_t, int) { throw std::length_error("enough"); };
  EXPECT_THROW(workers.map(numbers, fn<&twice>, stop_at_once), std::length_error);
}

inline void expect_pools(const std::vector<node_t>& targets) {
  offload::pool workers{targets};
  std::vector<offload::future<int>> tasks;
  for (int i = 0; i < 200; ++i) tasks.push_back(workers.async(idempotent(fn<&twice>), i));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(tasks[static_cast<std::size_t>(i)].get(), 2 * i);
  std::vector<int> numbers(5000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<int> results = workers.map(numbers, fn<&twice>);
  ASSERT_EQ(results.size(), numbers.size());
  for (const int one : numbers) EXPECT_EQ(results[static_cast<std::size_t>(one)], 2 * one);
  EXPECT_EQ(workers.living(), targets.size());
  expect_maps(workers);
}

/// Memory of the first node to the others; all 1000 elements of each are 2.5.
inline void expect_copied_to_all(const offload::group& all, const std::vector<offload::buffer_ptr<double>>& buffers) {
  std::vector<double> values(1000, 2.5);
  std::fill_n(values.begin(), 600, 4.5);
  const std::vector<double> first(600, 4.5);
  offload::put_sync(first.data(), buffers.front(), first.size());
  const auto expect_everywhere = [&] {
    for (const auto& one : buffers) {
      std::vector<double> there(values.size());
      offload::get_sync(one, there.data(), there.size());
      EXPECT_EQ(there, values) << "node " << one.node();
    }
  };
  offload::broadcast(buffers, first.size());
  expect_everywhere();
  const std::vector<double> second(200, -1);
  std::copy(second.begin(), second.end(), values.begin());
  offload::put_sync(second.data(), buffers.front(), second.size());
  if (all.size() > 1) {  // else there is nothing to do
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(offload::broadcast(offload::stoppable(all, source.get_token()), buffers, second.size()),
                 operation_cancelled);
    EXPECT_THROW(offload::broadcast(buffers, 1001), error) << "more than there is";
  }
  offload::broadcast(offload::within(all, 10min), buffers, second.size());
  expect_everywhere();
}

inline void expect_groups(const std::vector<node_t>& targets) {
  const offload::group all{targets};
  EXPECT_EQ(offload::sync_all(all, fn<&where>), targets);
  EXPECT_EQ(offload::reduce_all(all, fn<&where>, std::plus<>()).get(),
            std::accumulate(targets.begin(), targets.end(), node_t{0}));
  const auto buffers = offload::allocate_all<double>(all, 1000);
  offload::broadcast(std::vector<double>(1000, 2.5), buffers).get().values();
  for (const double one : offload::sync_all(all, fn<&own_first>, buffers)) EXPECT_EQ(one, 2.5);
  offload::barrier(all).get().values();
  expect_copied_to_all(all, buffers);
  for (const auto& one : buffers) offload::free(one);
  for (const std::int64_t left : offload::sync_all(offload::within(all, 10min), fn<&time_left>)) EXPECT_GT(left, 0);
  std::stop_source source;
  auto stopped = offload::async_all(offload::stoppable(all, source.get_token()), fn<&until_stopped>);
  std::this_thread::sleep_for(5ms);
  source.request_stop();
  const auto answers = stopped.get();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers.ok(i)) {
      EXPECT_EQ(answers.value(i), 7);
    } else {
      EXPECT_THROW(std::rethrow_exception(answers.error(i)), operation_cancelled);
    }
  }
}

/// Without a process that dies.
inline void expect_retries(const std::vector<node_t>& targets) {
  for (const node_t node : targets) {
    EXPECT_EQ(offload::sync(offload::retry(node, 2), idempotent(fn<&where>)), node);
    expect_seen_while_running([&](const std::stop_token& token) {
      return offload::async(offload::retry(offload::stoppable(node, token), 2), idempotent(fn<&until_stopped>));
    });
  }
}

/// Operations that have begun, as senders.
inline void expect_futures_as_senders(node_t node) {
  const auto value = offload::sync_wait(offload::as_sender(offload::async(node, fn<&add>, 40, 2)));
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(std::get<0>(*value), 42);
  const offload::buffer<double> there(node, 1);
  const std::vector<double> here{3.5};
  EXPECT_TRUE(offload::sync_wait(offload::as_sender(offload::put(here, there))).has_value());
  EXPECT_EQ(offload::sync(node, fn<&first_of>, there.ptr()), 3.5);
  EXPECT_THROW(
      static_cast<void>(offload::sync_wait(offload::as_sender(offload::async(node, fn<&refuse_negative>, -1)))),
      std::out_of_range);
  std::stop_source source;
  source.request_stop();
  auto stopped = offload::async(offload::stoppable(node, source.get_token()), fn<&add>, 40, 2);
  EXPECT_FALSE(offload::sync_wait(offload::as_sender(std::move(stopped))).has_value());
}

inline void expect_senders(const std::vector<node_t>& targets) {
  for (const node_t node : targets) {
    expect_futures_as_senders(node);
    const auto value = offload::sync_wait(offload::call(node, fn<&add>, 40, 2));
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(std::get<0>(*value), 42);
    const auto there = offload::sync_wait(offload::schedule(node) | offload::then(fn<&where>));
    ASSERT_TRUE(there.has_value());
    EXPECT_EQ(std::get<0>(*there), node);
    const std::string bound = "bound ";
    EXPECT_EQ(
        offload::sync(node,
                      ham::bind([](const std::string& left, const std::string& right) { return left + right; }, bound),
                      std::string("value")),
        "bound value");
  }
}

/// The nodes of this job but this one.
inline void expect_all() {
  std::vector<node_t> targets;
  for (node_t node = 1; node < static_cast<node_t>(offload::num_nodes()); ++node) targets.push_back(node);
  expect_stops(targets);
  expect_stopped_transfers(targets);
  expect_graphs(targets);
  expect_pools(targets);
  expect_groups(targets);
  expect_retries(targets);
  expect_senders(targets);
}

}  // namespace richer_calls

}  // namespace ham::test
