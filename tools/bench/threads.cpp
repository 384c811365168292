// ham-bench threads.
#include "benchmarks.hpp"

#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace ham::inline v0::bench {

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

burst call_from(std::size_t threads, const settings& how) {
  std::atomic<std::size_t> ready{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  std::vector<std::vector<double>> times(threads);
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < threads; ++i) {
    times[i].reserve(200'000);
    callers.emplace_back([&, i] {
      pin_this_thread(core_of_thread(how, i));
      offload::sync(1, fn<&nothing>);
      ++ready;
      while (!go) std::this_thread::yield();
      std::int64_t begin = now_ns();
      while (!stop.load(std::memory_order_relaxed)) {
        offload::sync(1, fn<&nothing>);
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

}  // namespace

report run_threads(const settings& how) {
  constexpr std::size_t max_threads = 4;
  session with(how);
  std::vector<paired_rounds> found(max_threads);
  for (int round = 0; round < how.repetitions; ++round) {
    for (std::size_t threads = 1; threads <= max_threads; ++threads) {
      take_round(
          found[threads - 1], round, [&] { return with.bounce(); },
          [&] {
            burst one = call_from(threads, how);
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
  report result{"threads", {}, {}, {}};
  result.tables.push_back(std::move(times));
  result.remarks.emplace_back("the target has a core of its own; host threads share the other " +
                              std::to_string(how.all_cores.size() > 1 ? how.all_cores.size() - 1 : 1) +
                              " core(s); single times include one reading of the clock");
  with.add_remarks(result);
  return result;
}

}  // namespace ham::bench
