// ham-bench threads.
#include "benchmarks.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

// The target keeps its core; host threads share the others.
int core_of_thread(const settings& how, std::size_t thread) {
  std::vector<int> free_cores;
  for (const int core : how.all_cores) {
    if (core != how.cores.target) free_cores.push_back(core);
  }
  return free_cores.empty() ? how.cores.host : free_cores[thread % free_cores.size()];
}

struct burst {
  double ns_per_call = 0;         ///< time of the burst / calls of all threads
  std::vector<double> single_ns;  ///< of all threads
};

/// Where a thread runs, and whom it calls.
struct caller {
  int core = 0;
  node_t target = 1;
};

burst call_from(std::size_t threads, const settings& how, const std::function<caller(std::size_t)>& place_of) {
  std::atomic<std::size_t> ready{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  std::vector<std::vector<double>> times(threads);
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < threads; ++i) {
    times[i].reserve(200'000);
    callers.emplace_back([&, i] {
      const caller here = place_of(i);
      pin_this_thread(here.core);
      offload::sync(here.target, fn<&nothing>);
      ++ready;
      while (!go) std::this_thread::yield();
      std::int64_t begin = now_ns();
      while (!stop.load(std::memory_order_relaxed)) {
        offload::sync(here.target, fn<&nothing>);
        const std::int64_t after = now_ns();
        times[i].push_back(static_cast<double>(after - begin));
        begin = after;
      }
    });
  }
  while (ready < threads) std::this_thread::yield();
  const std::int64_t begin = now_ns();
  go = true;
  std::this_thread::sleep_for(std::chrono::nanoseconds(how.plan().length_ns * 2));
  stop = true;
  const auto elapsed = static_cast<double>(now_ns() - begin);
  for (auto& one : callers) one.join();
  burst result;
  for (const auto& one : times) result.single_ns.insert(result.single_ns.end(), one.begin(), one.end());
  result.ns_per_call = elapsed / static_cast<double>(result.single_ns.size());
  return result;
}

void measure_one_target(const settings& how, report& result) {
  constexpr std::size_t max_threads = 4;
  session with(how);
  std::vector<paired_rounds> found(max_threads);
  for (int round = 0; round < how.repetitions; ++round) {
    for (std::size_t threads = 1; threads <= max_threads; ++threads) {
      take_round(
          found[threads - 1], round, [&] { return with.bounce(); },
          [&] {
            burst one = call_from(threads, how, [&](std::size_t i) { return caller{core_of_thread(how, i), 1}; });
            return block_times{one.ns_per_call, std::move(one.single_ns)};
          });
    }
  }
  table times{"empty sync to one target from several host threads; floor: a cache line bounced between two processes",
              {"threads", "million/s"},
              {}};
  add_median_columns(times.columns, "time per call", "ns");
  times.columns.insert(times.columns.end(), {"p50 ns", "p99 ns", "p99.9 ns", "floor ns", "ratio", "quartiles"});
  for (std::size_t threads = 1; threads <= max_threads; ++threads) {
    paired_rounds& rounds = found[threads - 1];
    const comparison one = rounds.compared();
    std::vector<cell> row{count(threads), {1e3 / one.measured, 3}};
    add_median(row, one, 1, 1);
    for (const double q : {0.5, 0.99, 0.999}) row.emplace_back(quantile_in_place(rounds.singles, q), 0);
    row.insert(row.end(), {{one.floor, 1}, {one.median_of_ratios, 3}, quartiles_of_ratio(one)});
    times.rows.push_back(std::move(row));
  }
  result.tables.push_back(std::move(times));
  result.remarks.emplace_back("the target has a core of its own; host threads share the other " +
                              std::to_string(how.all_cores.size() > 1 ? how.all_cores.size() - 1 : 1) +
                              " core(s); single times include one reading of the clock");
  with.add_remarks(result);
}

void move_to_core(int core) { pin_this_thread(core); }

/// Each thread and each target on a core of its own, as far as there are so many.
void measure_own_targets(const settings& how, report& result) {
  constexpr std::size_t most = 8;
  constexpr std::size_t enough_cores = 8;
  const std::size_t cores = how.all_cores.size();
  const std::size_t max_threads = cores >= enough_cores ? most : std::max<std::size_t>(cores / 2, 1);
  const auto job = start_job(how, static_cast<int>(max_threads), pinning::none);
  const auto core = [&](std::size_t place) { return how.all_cores[place % cores]; };
  for (std::size_t i = 0; i < max_threads; ++i)
    offload::sync(static_cast<node_t>(i + 1), fn<&move_to_core>, core(2 * i + 1));
  const auto place_of = [&](std::size_t i) { return caller{core(2 * i), static_cast<node_t>(i + 1)}; };

  std::vector<paired_rounds> found(max_threads);  // beside one thread, in the same round
  for (int round = 0; round < how.repetitions; ++round) {
    for (std::size_t threads = 1; threads <= max_threads; ++threads) {
      take_round(
          found[threads - 1], round,
          [&] {
            return block_times{call_from(1, how, place_of).ns_per_call, {}};
          },
          [&] {
            return block_times{call_from(threads, how, place_of).ns_per_call, {}};
          });
    }
  }
  table rates{"empty sync from several host threads, each to a target of its own; beside one thread of the same run",
              {"threads and targets", "million/s"},
              {}};
  add_median_columns(rates.columns, "time / calls of all", "ns");
  rates.columns.insert(rates.columns.end(), {"one thread ns", "rate / that of one"});
  for (std::size_t threads = 1; threads <= max_threads; ++threads) {
    const comparison one = found[threads - 1].compared();
    std::vector<cell> row{count(threads), {1e3 / one.measured, 3}};
    add_median(row, one, 1, 1);
    row.insert(row.end(), {{one.floor, 1}, {1 / one.median_of_ratios, 3}});
    rates.rows.push_back(std::move(row));
    if (threads == most)
      result.bars.push_back({"8 threads with 8 targets / one thread with one", 1 / one.median_of_ratios,
                             bar::direction::at_least, 6, ""});
  }
  result.tables.push_back(std::move(rates));
  if (max_threads < most)
    result.remarks.emplace_back("8 threads with targets of their own want 8 cores or more: here are " +
                                std::to_string(cores));
}

}  // namespace

report run_threads(const settings& how) {
  report result{"threads", {}, {}, {}};
  measure_one_target(how, result);
  measure_own_targets(how, result);
  return result;
}

}  // namespace ham::bench
