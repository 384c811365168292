// ham-bench senders: calls made as senders beside the same calls made with async.
#include "benchmarks.hpp"

#include "affinity.hpp"
#include "allocations.hpp"

#include <ham/offload/progress.hpp>
#include <ham/offload/senders.hpp>

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr double max_cost_ns = 20;
constexpr int sender_calls_counted = 500;  ///< for their allocations, in each round

/// A receiver as a program writes one.
struct flag_receiver {
  using receiver_concept = offload::execution::receiver_tag;

  bool* done;
  void set_value() noexcept { *done = true; }
  void set_error(const std::exception_ptr&) noexcept { *done = true; }
  void set_stopped() noexcept { *done = true; }
};

void complete_receiver() {
  bool done = false;
  auto operation = offload::call(1, fn<&nothing>).connect(flag_receiver{&done});
  operation.start();
  while (!done) offload::progress();
}

void get_result() { offload::async(1, fn<&nothing>).get(); }

/// What complete_receiver() does, without a receiver.
void progress_to_result() {
  const auto result = offload::async(1, fn<&nothing>);
  bool done = false;
  result.on_ready([&done] { done = true; });
  while (!done) offload::progress();
}

struct sender_case {
  std::string name;
  std::function<block_times()> floor;
  std::function<block_times()> measure;
  std::function<void()> once;
  paired_rounds rounds;
};

template <class Operation>
sender_case timed(std::string name, const block_plan& plan, Operation operation, void (*floor)() = &get_result) {
  return {std::move(name),
          [plan, floor] { return time_block(floor, plan); },
          [plan, operation] { return time_block(operation, plan); },
          operation,
          {}};
}

/// What each round adds to the floor of the same round.
double added_ns(const paired_rounds& rounds) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < rounds.measured.size(); ++i) differences.push_back(rounds.measured[i] - rounds.floor[i]);
  return median(std::move(differences));
}

}  // namespace

report run_senders(const settings& how) {
  report result{"senders", {}, {}, {}};
  const auto job = start_job(how, 1, pinning::two_cores);
  pin_this_thread(how.cores.host);
  offload::sync(1, fn<&nothing>);
  const block_plan plan = how.plan();

  std::vector<sender_case> cases;
  cases.push_back(
      timed("sync_wait(call(node, f))", plan, [] { (void)offload::sync_wait(offload::call(1, fn<&nothing>)); }));
  cases.push_back(timed("sync_wait(schedule(node) | then(f))", plan,
                        [] { (void)offload::sync_wait(offload::schedule(1) | offload::then(fn<&nothing>)); }));
  cases.push_back(timed("sync_wait(as_sender(async(node, f)))", plan,
                        [] { (void)offload::sync_wait(offload::as_sender(offload::async(1, fn<&nothing>))); }));
  cases.push_back(timed("call(node, f).connect(receiver), progress()", plan, &complete_receiver, &progress_to_result));
  for (int round = 0; round < how.repetitions; ++round) {
    for (sender_case& one : cases) take_round(one.rounds, round, one.floor, one.measure);
  }

  table found{"an empty call made as a sender; floor: async(node, f).get(), and of the last on_ready and progress()",
              {"made by"},
              {}};
  add_median_columns(found.columns, "", "ns");
  found.columns.insert(found.columns.end(), {"async ns", "ratio", "quartiles", "added ns", "allocations"});
  for (const sender_case& one : cases) {
    const comparison cost = one.rounds.compared();
    const double added = added_ns(one.rounds);
    const double allocated = allocations_per_call(1, how.repetitions, sender_calls_counted, one.once);
    auto& row = found.rows.emplace_back();
    row.emplace_back(one.name);
    add_median(row, cost, 1, 1);
    row.insert(row.end(),
               {{cost.floor, 1}, {cost.median_of_ratios, 2}, quartiles_of_ratio(cost), {added, 1}, {allocated, 2}});
    result.bars.push_back({one.name + " - async", added, bar::direction::at_most, max_cost_ns, "ns"});
    result.bars.push_back({one.name + ", allocations of both nodes", allocated, bar::direction::at_most, 0, ""});
  }
  result.tables.push_back(std::move(found));
  return result;
}

}  // namespace ham::bench
