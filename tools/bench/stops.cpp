// ham-bench stops: how soon a function that polls its stop token sees that it was stopped, what a poll costs, and what
// a call that nothing can stop costs beside one that something can.
#include "benchmarks.hpp"

#include "affinity.hpp"
#include "stoppable_calls.hpp"
#include "tcp_job.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::int64_t max_head_start_ns = 10'000'000;
/// By then the function is polling. Longer where waking the target takes longer.
std::int64_t head_start_ns = 50'000;
constexpr std::int64_t call_pause_ns = 10'000;

/// Returns when it is told to, and when that was: both processes have the same clock.
std::int64_t poll_until_stopped() {
  const call_stop_token stop = this_call::stop_token();
  while (!stop.stop_requested()) {
  }
  return now_ns();
}

/// What a poll costs, in nanoseconds.
double poll_cost_ns() {
  constexpr int polls = 100'000;
  const call_stop_token stop = this_call::stop_token();
  int stopped = 0;
  const std::int64_t begin = now_ns();
  for (int i = 0; i < polls; ++i) stopped += stop.stop_requested() ? 1 : 0;
  return static_cast<double>(now_ns() - begin) / polls + stopped;
}

void spin(std::int64_t time_ns) {
  for (const std::int64_t end = now_ns() + time_ns; now_ns() < end;) {
  }
}

/// From the stop until the function has seen it.
double stop_time_ns() {
  for (;; head_start_ns *= 2) {
    auto call = offload::async(offload::stoppable(1), fn<&poll_until_stopped>);
    spin(head_start_ns);
    const std::int64_t begin = now_ns();
    call.request_stop();
    try {
      return static_cast<double>(call.get() - begin) - clock_cost_ns();
    } catch (const operation_cancelled& early) {
      if (early.outcome() != call_outcome::not_run || head_start_ns > max_head_start_ns) throw;
    }
  }
}

block_times time_stops(std::int64_t length_ns) {
  constexpr std::size_t least = 20;
  for (int i = 0; i < 3; ++i) stop_time_ns();
  block_times result;
  for (const std::int64_t end = now_ns() + length_ns; now_ns() < end || result.single_ns.size() < least;)
    result.single_ns.push_back(stop_time_ns());
  result.typical_ns = median(result.single_ns);
  return result;
}

/// A call with nothing to stop it, after a pause during which a target that waits does not go to sleep: the one that
/// polls is awake, too.
block_times time_calls(std::int64_t length_ns) {
  constexpr std::size_t least = 20;
  block_times result;
  for (const std::int64_t end = now_ns() + length_ns; now_ns() < end || result.single_ns.size() < least;) {
    spin(call_pause_ns);
    const std::int64_t begin = now_ns();
    offload::sync(1, fn<&nothing>);
    result.single_ns.push_back(static_cast<double>(now_ns() - begin) - clock_cost_ns());
  }
  result.typical_ns = median(result.single_ns);
  return result;
}

void measure(const settings& how, const std::string& transport, table& into, report& result) {
  pin_this_thread(how.cores.host);
  offload::sync(1, fn<&nothing>);
  const auto length_ns = static_cast<std::int64_t>(how.block_ms * 1e6);
  paired_rounds rounds;
  std::vector<double> polls;
  for (int round = 0; round < how.repetitions; ++round) {
    take_round(
        rounds, round, [&] { return time_calls(length_ns); }, [&] { return time_stops(length_ns); });
    polls.push_back(offload::sync(offload::stoppable(1), fn<&poll_cost_ns>));
  }
  const comparison cost = rounds.compared();
  const double poll_ns = median(polls);
  auto& row = into.rows.emplace_back();
  row.emplace_back(transport);
  add_median(row, cost, 1000, 2);
  row.insert(row.end(), {{quantile(rounds.singles, 0.99) / 1000, 2},
                         {cost.floor / 1000, 2},
                         {cost.median_of_ratios, 2},
                         quartiles_of_ratio(cost),
                         {poll_ns, 2}});
  result.bars.push_back({"stop until the function sees it / an empty call, " + transport, cost.median_of_ratios,
                         bar::direction::at_most, 2, "x"});
  result.bars.push_back({"poll of a stop token, " + transport, poll_ns, bar::direction::at_most, 2, "ns"});
}

}  // namespace

report run_stops(const settings& how) {
  report result{"stops", {}, {}, {}};
  table found{
      "from request_stop until a function that polls its token has seen it (median of single ones); floor: an empty "
      "call",
      {"transport"},
      {}};
  add_median_columns(found.columns, "stop", "us");
  found.columns.insert(found.columns.end(), {"p99 us", "call us", "stop / call", "quartiles", "poll ns"});
  {
    const auto job = start_job(how, 1, pinning::two_cores);
    measure(how, how.transport, found, result);
  }
  if (how.transport == "shm") {
    const tcp_server server(false, {how.cores.target});
    const auto job = server.host();
    measure(how, "tcp", found, result);
  }
  result.tables.push_back(std::move(found));
  pin_this_thread(how.all_cores);
  add_stoppable_calls(how, result);
  result.remarks.emplace_back("each stop is made " + std::to_string(head_start_ns / 1000) +
                              " us after its call, which may have to wake the target; each call beside it " +
                              std::to_string(call_pause_ns / 1000) +
                              " us after the one before, at a target that is awake");
  return result;
}

}  // namespace ham::bench
