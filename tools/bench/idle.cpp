// ham-bench idle.
#include "benchmarks.hpp"

#include "process_state.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::chrono::seconds silence{1};

struct silent_second {
  double target_percent = 0;  ///< of one core
  double host_percent = 0;    ///< this process, which sleeps
  double first_call_ns = 0;   ///< the call that ends the silence
};

// The second begins right after a call, so the target's last spin before it falls asleep is in it.
silent_second stay_silent(pid_t target) {
  offload::sync(1, fn<&nothing>);
  const std::int64_t begin = now_ns();
  const std::int64_t target_before = cpu_time_ns(target);
  const std::int64_t host_before = cpu_time_ns(getpid());
  std::this_thread::sleep_for(silence);
  const std::int64_t target_used = cpu_time_ns(target) - target_before;
  const std::int64_t host_used = cpu_time_ns(getpid()) - host_before;
  const auto elapsed = static_cast<double>(now_ns() - begin);
  const std::int64_t call = now_ns();
  offload::sync(1, fn<&nothing>);
  const double taken = static_cast<double>(now_ns() - call) - clock_cost_ns();
  return {100.0 * static_cast<double>(target_used) / elapsed, 100.0 * static_cast<double>(host_used) / elapsed, taken};
}

}  // namespace

report run_idle(const settings& how) {
  session with(how);
  block_plan plan = how.plan();
  plan.group = 8;
  std::vector<double> target_percent;
  std::vector<double> host_percent;
  paired_rounds steady;        // first call beside a futex ping-pong that goes on and on
  std::vector<double> rested;  // one futex round trip after the same second of silence
  for (int round = 0; round < how.repetitions; ++round) {
    take_round(
        steady, round,
        [&] {
          with.let_targets_sleep();
          return with.partner().futex_ping_pong(plan);
        },
        [&] {
          const silent_second found = stay_silent(with.pid_of(1));
          target_percent.push_back(found.target_percent);
          host_percent.push_back(found.host_percent);
          return block_times{found.first_call_ns, {found.first_call_ns}};
        });
    with.let_targets_sleep();
    rested.push_back(with.partner().futex_after_sleep_ns(silence));
  }

  const comparison wake = steady.compared();
  const comparison wake_rested = compare(steady.measured, rested);
  report result{"idle", {}, {}, {}};
  result.tables.push_back({"one second without a call",
                           {"process", "median % of a core", "quartiles", "most % of a core"},
                           {{"target",
                             {median(target_percent), 3},
                             {range{quantile(target_percent, 0.25), quantile(target_percent, 0.75)}, 3},
                             {quantile(target_percent, 1), 3}},
                            {"host",
                             {median(host_percent), 3},
                             {range{quantile(host_percent, 0.25), quantile(host_percent, 0.75)}, 3},
                             {quantile(host_percent, 1), 3}}}});
  result.tables.push_back(
      {"the first call after that second; floor: round trip between two processes over a shared futex",
       {"floor", "first call us", "quartile 1 first call us", "quartile 3 first call us", "floor us", "ratio",
        "ratio of medians", "quartiles"},
       {{"futex ping-pong, going on",
         {wake.measured / 1e3, 1},
         {wake.measured_low / 1e3, 1},
         {wake.measured_high / 1e3, 1},
         {wake.floor / 1e3, 1},
         {wake.median_of_ratios, 3},
         {wake.ratio_of_medians, 3},
         quartiles_of_ratio(wake)},
        {"one futex round trip after 1 s",
         {wake_rested.measured / 1e3, 1},
         {wake_rested.measured_low / 1e3, 1},
         {wake_rested.measured_high / 1e3, 1},
         {wake_rested.floor / 1e3, 1},
         {wake_rested.median_of_ratios, 3},
         {wake_rested.ratio_of_medians, 3},
         quartiles_of_ratio(wake_rested)}}});
  const auto most = bar::direction::at_most;
  result.bars = {
      {"a target idle for 1 s, most of all rounds", quantile(target_percent, 1), most, 1, "%"},
      {"first call after 1 s / shared-futex ping-pong, going on", wake.median_of_ratios, most, 1.2, ""},
      {"first call after 1 s / shared-futex round trip after 1 s", wake_rested.median_of_ratios, most, 1.2, ""}};
  result.remarks.push_back(
      "a ping-pong that goes on keeps caches and the idle states of the cores warm, a second of silence does not: "
      "the third line compares like with like");
  with.add_remarks(result);
  return result;
}

}  // namespace ham::bench
