// ham-bench pool: many short tasks on two targets, beside the same tasks run by two threads without HAM.
#include "benchmarks.hpp"

#include <ham/offload/pool.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t task_count = 100'000;
constexpr int targets = 2;
constexpr double task_ns = 10'000;
constexpr std::size_t few = 32;  ///< tasks for each node

/// A task: so many rounds in registers.
std::uint32_t pool_task(std::uint64_t rounds) {
  std::uint64_t state = rounds;
  for (std::uint64_t i = 0; i < rounds; ++i) state = state * 6364136223846793005ULL + (state >> 33);
  asm volatile("" : "+r"(state));
  return static_cast<std::uint32_t>(state);
}

/// Rounds that take as long as a task shall: by the fastest of some trials.
std::uint64_t rounds_of_a_task() {
  constexpr std::uint64_t trial = 1'000'000;
  double fastest_ns = 1e12;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t begin = now_ns();
    pool_task(trial);
    fastest_ns = std::min(fastest_ns, static_cast<double>(now_ns() - begin));
  }
  return static_cast<std::uint64_t>(task_ns * static_cast<double>(trial) / fastest_ns);
}

template <class Action>
block_times time_per_task(Action action) {
  const std::int64_t begin = now_ns();
  action();
  return {static_cast<double>(now_ns() - begin) / task_count, {}};
}

/// As many threads as targets, each of which runs its share: nothing but tasks.
void run_without_ham(std::uint64_t rounds) {
  std::array<std::thread, targets> threads;
  for (std::thread& one : threads) {
    one = std::thread([rounds] {
      for (std::size_t i = 0; i < task_count / targets; ++i) pool_task(rounds);
    });
  }
  for (std::thread& one : threads) one.join();
}

/// Each task as a call of its own; results are read in order.
void run_as_calls(offload::pool& workers, std::uint64_t rounds) {
  std::vector<offload::future<std::uint32_t>> results;
  results.reserve(task_count);
  for (std::size_t i = 0; i < task_count; ++i) results.push_back(workers.async(fn<&pool_task>, rounds));
  for (auto& one : results) one.get();
}

void run_as_map(offload::pool& workers, const std::vector<std::uint64_t>& tasks) {
  static_cast<void>(workers.map(tasks, fn<&pool_task>));
}

void add_row(table& to, const char* name, const paired_rounds& rounds) {
  const comparison cost = rounds.compared();
  auto& row = to.rows.emplace_back();
  row.emplace_back(name);
  add_median(row, cost, 1000, 3);
  row.insert(row.end(), {{cost.floor / 1000, 3}, {1 / cost.median_of_ratios, 3}});
}

void add_bar(report& to, const char* name, const paired_rounds& rounds) {
  to.bars.push_back({std::string("share of the cores' time in tasks, ") + name, 1 / rounds.compared().median_of_ratios,
                     bar::direction::at_least, 0.95, ""});
}

}  // namespace

report run_pool(const settings& how) {
  const std::uint64_t rounds = rounds_of_a_task();
  const auto job = start_job(how, targets, pinning::by_default);
  const std::vector<std::uint64_t> tasks(task_count, rounds);
  paired_rounds calls, few_calls, maps;
  {
    offload::pool workers, with_few(offload::targets(), {.per_node = few});
    const auto floor = [&] { return time_per_task([&] { run_without_ham(rounds); }); };
    for (int round = 0; round < how.repetitions; ++round) {
      take_round(calls, round, floor, [&] { return time_per_task([&] { run_as_calls(workers, rounds); }); });
      take_round(few_calls, round, floor, [&] { return time_per_task([&] { run_as_calls(with_few, rounds); }); });
      take_round(maps, round, floor, [&] { return time_per_task([&] { run_as_map(workers, tasks); }); });
    }
  }
  report result{"pool", {}, {}, {}};
  table found{
      "100000 tasks of 10 us on a pool of 2 targets; floor: two threads that do nothing else", {"tasks as"}, {}};
  add_median_columns(found.columns, "time per task", "us");
  found.columns.insert(found.columns.end(), {"floor us", "share in tasks"});
  add_row(found, "calls", calls);
  add_bar(result, "calls", calls);
  add_row(found, "calls, 32 per node", few_calls);
  add_row(found, "map", maps);
  add_bar(result, "map", maps);
  result.tables.push_back(std::move(found));
  result.remarks.emplace_back("host and targets share " + std::to_string(how.all_cores.size()) +
                              " core(s); with two, what the host does is taken from the tasks");
  return result;
}

}  // namespace ham::bench
