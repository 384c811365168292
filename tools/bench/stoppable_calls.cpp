#include "stoppable_calls.hpp"

#include "affinity.hpp"
#include "allocations.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

using namespace std::chrono_literals;

constexpr auto far_deadline = 10s;
constexpr int calls_before = 1000, stoppable_calls_counted = 500;

void plain_call() { offload::sync(1, fn<&nothing>); }

/// A call that something can stop, beside one that nothing can.
struct stoppable_call {
  const char* name;
  std::function<void()> call;
  paired_rounds rounds{};
  std::vector<double> allocations{};  ///< of both nodes, for a call
};

std::vector<stoppable_call> stoppable_calls(const std::stop_token& token) {
  return {
      {"sync(within(node, 10s), f)", [] { offload::sync(offload::within(1, far_deadline), fn<&nothing>); }},
      {"sync(stoppable(node), f)", [] { offload::sync(offload::stoppable(1), fn<&nothing>); }},
      {"sync(within(node, 10s, token), f)",
       [token] { offload::sync(offload::within(1, far_deadline, token), fn<&nothing>); }},
  };
}

/// As a future stops it, perhaps too late.
void stopped_call() {
  auto call = offload::async(offload::stoppable(1), fn<&nothing>);
  call.request_stop();
  try {
    call.get();
  } catch (const operation_cancelled&) {
  }
}

class rounds_of_stops {
 public:
  explicit rounds_of_stops(const settings& how) : how_(how), kinds_(stoppable_calls(source_.get_token())) {}

  /// Both kinds of jobs, each first in turn.
  void take(int round, report& to) {
    for (int half = 0; half < 2; ++half) {
      pin_this_thread(how_.all_cores);  // the session before has bound this thread
      session with(how_);
      if ((round + half) % 2 == 0) {
        for (int i = 0; i < calls_before; ++i) {
          for (std::size_t calls = 0; calls <= kinds_.size(); ++calls) plain_call();  // as many as in the other job
        }
        take_plain(without_, with, round);
      } else {
        for (int i = 0; i < calls_before; ++i) {
          for (const stoppable_call& one : kinds_) one.call();
          stopped_call();
        }
        take_plain(after_, with, round);
        for (stoppable_call& one : kinds_) {
          take_round(
              one.rounds, round, [&] { return time_block(plain_call, how_.plan()); },
              [&] { return time_block(one.call, how_.plan()); });
          one.allocations.push_back(allocations_per_call(1, 1, stoppable_calls_counted, one.call));
        }
      }
      if (round == 0 && half == 0) with.add_remarks(to);
    }
  }

  [[nodiscard]] const paired_rounds& without() const noexcept { return without_; }
  [[nodiscard]] const paired_rounds& after() const noexcept { return after_; }
  [[nodiscard]] const std::vector<stoppable_call>& kinds() const noexcept { return kinds_; }

 private:
  void take_plain(paired_rounds& into, session& with, int round) const {
    take_round(
        into, round, [&] { return with.bounce(); }, [&] { return time_block(plain_call, how_.plan()); });
  }

  const settings& how_;
  std::stop_source source_;
  paired_rounds without_, after_;
  std::vector<stoppable_call> kinds_;
};

void add_row(table& to, const char* name, const comparison& cost) {
  auto& row = to.rows.emplace_back();
  row.emplace_back(name);
  add_median(row, cost, 1, 1);
  row.insert(row.end(),
             {{cost.floor, 1}, {cost.median_of_ratios, 3}, quartiles_of_ratio(cost), {cost.median_difference, 1}});
}

table table_of(std::string title) {
  table result{std::move(title), {"call"}, {}};
  add_median_columns(result.columns, "", "ns");
  result.columns.insert(result.columns.end(), {"floor ns", "ratio", "quartiles", "over floor ns"});
  return result;
}

}  // namespace

void add_stoppable_calls(const settings& how, report& to) {
  rounds_of_stops found(how);
  for (int round = 0; round < how.repetitions; ++round) found.take(round, to);
  const comparison without = found.without().compared();
  const comparison after = found.after().compared();
  const comparison both = compare(found.after().measured, found.without().measured);

  table plain = table_of("an empty call that nothing can stop; floor: a cache line bounced between two processes");
  add_row(plain, "in a job without stops", without);
  add_row(plain, "in a job that has made calls with stops", after);
  to.tables.push_back(std::move(plain));
  table more = table_of("an empty call that something can stop; floor: one that nothing can");
  more.columns.emplace_back("allocations");
  for (const stoppable_call& one : found.kinds()) {
    add_row(more, one.name, one.rounds.compared());
    more.rows.back().emplace_back(median(one.allocations), 2);
  }
  to.tables.push_back(std::move(more));
  if (how.transport == "shm")
    to.bars.push_back({"call that nothing can stop / bounce, after calls with stops", after.median_of_ratios,
                       bar::direction::at_most, 1.20, "x"});
  to.bars.push_back({"call that nothing can stop, after calls with stops / without", both.median_of_ratios,
                     bar::direction::at_most, 1.05, "x"});
}

}  // namespace ham::bench
