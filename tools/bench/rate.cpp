// ham-bench rate: the tests of AVEO (paper 2), here with N futures in place of N request ids.
#include "benchmarks.hpp"
#include "spread.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

using futures = std::vector<offload::future<void>>;

// Test 1: submit N calls, then wait for N results.
void submit_then_wait(std::size_t calls, futures& pending) {
  for (std::size_t i = 0; i < calls; ++i) pending.push_back(offload::async(1, fn<&nothing>));
  for (auto& one : pending) one.get();
  pending.clear();
}

// Test 2: submit one call and wait for its result, N times.
void submit_and_wait_each(std::size_t calls, futures&) {
  for (std::size_t i = 0; i < calls; ++i) offload::async(1, fn<&nothing>).get();
}

// Test 3: submit N calls and wait only for the last result.
void wait_for_last(std::size_t calls, futures&) {
  for (std::size_t i = 1; i < calls; ++i) offload::async(1, fn<&nothing>).detach();
  offload::async(1, fn<&nothing>).get();
}

// Test 4: N synchronous calls.
void synchronous(std::size_t calls, futures&) {
  for (std::size_t i = 0; i < calls; ++i) offload::sync(1, fn<&nothing>);
}

// Not in AVEO: N calls as one message, N results as one.
void as_batch(std::size_t calls, futures& pending) {
  offload::batch together(1);
  together.reserve(calls);
  for (std::size_t i = 0; i < calls; ++i) pending.push_back(together.add(fn<&nothing>));
  together.submit();
  for (auto& one : pending) one.get();
  pending.clear();
}

struct test_case {
  std::string name;
  void (*run)(std::size_t, futures&);
};

const std::vector<test_case>& all_tests() {
  static const std::vector<test_case> tests{{"Test 1", submit_then_wait},
                                            {"Test 2", submit_and_wait_each},
                                            {"Test 3", wait_for_last},
                                            {"Test 4", synchronous},
                                            {"batch", as_batch}};
  return tests;
}

// Times of one call within a test of `calls` calls: the futures' memory is there before the clock starts.
block_times time_test(const test_case& test, std::size_t calls, const settings& how, futures& pending) {
  block_plan plan = how.plan();
  plan.group = std::max<std::size_t>(1, 64 / calls);
  plan.length_ns /= 2;
  plan.min_rounds = 1;
  block_times result = time_block([&] { test.run(calls, pending); }, plan);
  result.typical_ns /= static_cast<double>(calls);
  result.single_ns.clear();
  return result;
}

}  // namespace

report run_rate(const settings& how) {
  session with(how);
  const std::vector<test_case>& tests = all_tests();
  const std::vector<std::size_t> counts{1, 10, 100, 1000, 10'000, 100'000};
  std::vector<std::vector<std::vector<double>>> cost(counts.size(), std::vector<std::vector<double>>(tests.size()));
  std::vector<std::vector<std::vector<double>>> floor = cost;  // each beside what it is compared with
  futures pending;
  pending.reserve(counts.back());
  for (int round = 0; round < how.repetitions; ++round) {
    for (std::size_t n = 0; n < counts.size(); ++n) {
      for (std::size_t t = 0; t < tests.size(); ++t) {
        floor[n][t].push_back(with.bounce().typical_ns);
        cost[n][t].push_back(time_test(tests[t], counts[n], how, pending).typical_ns);
      }
    }
  }

  table per_call{
      "nanoseconds per call, results included; floor: a cache line bounced between two processes", {"calls"}, {}};
  table rates{"million calls per second", {"calls"}, {}};
  table ratios{"cost of a call / floor", {"calls"}, {}};
  for (const test_case& one : tests) {
    add_median_columns(per_call.columns, one.name, "");
    for (table* each : {&rates, &ratios}) add_spread_columns(each->columns, one.name);
  }
  add_median_columns(per_call.columns, "floor", "");
  report result{"rate", {}, {}, {}};
  for (std::size_t n = 0; n < counts.size(); ++n) {
    auto& cost_row = per_call.rows.emplace_back(std::vector<cell>{count(counts[n])});
    auto& rate_row = rates.rows.emplace_back(std::vector<cell>{count(counts[n])});
    auto& ratio_row = ratios.rows.emplace_back(std::vector<cell>{count(counts[n])});
    for (std::size_t t = 0; t < tests.size(); ++t) {
      const comparison found = compare(cost[n][t], floor[n][t]);
      add_median(cost_row, found, 1, 1);
      add_rate(rate_row, 1e3, cost[n][t], 2);
      add_ratio(ratio_row, found, 3);
    }
    std::vector<double> all_floors;
    for (const auto& beside : floor[n]) all_floors.insert(all_floors.end(), beside.begin(), beside.end());
    add_median(cost_row, all_floors, 1, 1);
    if (counts[n] == 1000) {
      result.bars = {
          {"Test 1 with 1000 calls", 1e3 / median(cost[n][0]), bar::direction::at_least, 10, "million/s"},
          {"batch of 1000 empty calls", 1e3 / median(cost[n][4]), bar::direction::at_least, 20, "million/s"}};
    }
  }
  result.tables = {std::move(per_call), std::move(rates), std::move(ratios)};
  result.remarks = {
      "Test 1: submit N, wait for N; Test 2: submit one and wait, N times; Test 3: submit N, wait for the last; "
      "Test 4: N synchronous calls; batch: N calls in one message, N results in one"};
  with.add_remarks(result);
  return result;
}

}  // namespace ham::bench
