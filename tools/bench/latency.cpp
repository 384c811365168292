// ham-bench latency.
#include "benchmarks.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t largest_array = 1024;  // longer ones travel as spans and vectors
constexpr double wanted_ratio = 1.15;
constexpr std::size_t put_bytes = 4096;  // before a call

template <std::size_t Bytes>
void take_bytes(const std::array<std::byte, Bytes>&) {}

void take_span(std::span<const std::byte>) {}

template <std::size_t Bytes>
std::array<std::byte, Bytes> give_bytes() {
  return {};
}

std::vector<std::byte> give_vector(std::size_t bytes) { return std::vector<std::byte>(bytes); }

using block = std::function<block_times()>;

struct call_case {
  std::string name;
  block floor;
  block measure;
  paired_rounds rounds;
  std::vector<double> making_ns;  ///< what the floor of a result contains beside the message
};

template <class Operation>
block timed(const block_plan& plan, Operation operation) {
  return [plan, operation] { return time_block(operation, plan); };
}

/// What the function needs to make a result, which is no cost of the call.
template <class Make>
double making_ns(const block_plan& plan, Make make) {
  return time_block(
             [&] {
               const auto made = make();
               asm volatile("" : : "r"(made.data()) : "memory");
             },
             plan)
      .typical_ns;
}

class latency_cases {
 public:
  explicit latency_cases(session& with) : with_(with), plan_(with.how().plan()) {
    const block bounce = [&with] { return with.bounce(); };
    empty_.push_back({"sync, empty", bounce, timed(plan_, [] { offload::sync(1, fn<&nothing>); }), {}, {}});
    empty_.push_back(
        {"sync, 1 B",
         bounce,
         timed(plan_, [argument = std::array<std::byte, 1>{}] { offload::sync(1, fn<&take_bytes<1>>, argument); }),
         {},
         {}});
    add_arrays<8, 64, 256, largest_array>();
    for (const std::size_t bytes : {4096, 16384, 65536}) {
      add_argument(bytes, "(span)", timed(plan_, [argument = std::vector<std::byte>(bytes)] {
                     offload::sync(1, fn<&take_span>, std::span<const std::byte>(argument));
                   }));
      add_result(bytes, "(vector)", timed(plan_, [bytes] { (void)offload::sync(1, fn<&give_vector>, bytes); }),
                 [bytes] { return give_vector(bytes); });
    }
    const block empty_call = timed(plan_, [] { offload::sync(1, fn<&nothing>); });
    const auto put_first = [this](auto then) {
      return timed(plan_, [local = std::vector<std::byte>(put_bytes), to = there_.ptr(), then] { then(local, to); });
    };
    puts_.push_back({"put, then_call",
                     empty_call,
                     put_first([](const auto& local, auto to) {
                       offload::put(local.data(), to, put_bytes, offload::then_call(fn<&nothing>)).get();
                     }),
                     {},
                     {}});
    puts_.push_back({"put, wait, call",
                     empty_call,
                     put_first([](const auto& local, auto to) {
                       offload::put(local.data(), to, put_bytes).get();
                       offload::sync(1, fn<&nothing>);
                     }),
                     {},
                     {}});
  }
  latency_cases(const latency_cases&) = delete;
  latency_cases& operator=(const latency_cases&) = delete;

  void measure() {
    for (int round = 0; round < with_.how().repetitions; ++round) {
      for (auto* group : {&empty_, &arguments_, &results_, &puts_}) {
        for (call_case& one : *group) take_round(one.rounds, round, one.floor, one.measure);
      }
    }
  }

  [[nodiscard]] const std::vector<call_case>& empty() const noexcept { return empty_; }
  [[nodiscard]] const std::vector<call_case>& arguments() const noexcept { return arguments_; }
  [[nodiscard]] const std::vector<call_case>& results() const noexcept { return results_; }
  [[nodiscard]] const std::vector<call_case>& puts() const noexcept { return puts_; }

 private:
  template <std::size_t... Bytes>
  void add_arrays() {
    (add_argument(
         Bytes, "",
         timed(plan_,
               [argument = std::array<std::byte, Bytes>{}] { offload::sync(1, fn<&take_bytes<Bytes>>, argument); })),
     ...);
    (add_result(Bytes, "", timed(plan_, [] { (void)offload::sync(1, fn<&give_bytes<Bytes>>); }),
                [] { return give_bytes<Bytes>(); }),
     ...);
  }

  static std::string name_of(std::size_t bytes, const char* how) {
    return std::to_string(bytes) + " B" + (*how != '\0' ? " " : "") + how;
  }
  void add_argument(std::size_t bytes, const char* how, block measured) {
    const block floor = [this, bytes] {
      with_.let_targets_sleep();
      return with_.partner().message_there(bytes, plan_);
    };
    arguments_.push_back({name_of(bytes, how), floor, std::move(measured), {}, {}});
  }
  template <class Make>
  void add_result(std::size_t bytes, const char* how, block measured, Make make) {
    const std::size_t place = results_.size();
    const block floor = [this, bytes, place, make] {
      with_.let_targets_sleep();
      block_times found = with_.partner().message_back(bytes, plan_);
      results_[place].making_ns.push_back(making_ns(plan_, make));
      found.typical_ns += results_[place].making_ns.back();
      return found;
    };
    results_.push_back({name_of(bytes, how), floor, std::move(measured), {}, {}});
  }

  session& with_;
  const block_plan plan_;
  std::vector<call_case> empty_;
  std::vector<call_case> arguments_;
  std::vector<call_case> results_;
  offload::buffer<std::byte> there_{1, put_bytes};
  std::vector<call_case> puts_;
};

void add_percentiles(std::vector<cell>& row, std::vector<double> singles) {
  for (const double q : {0.5, 0.99, 0.999}) row.emplace_back(quantile_in_place(singles, q), 0);
}

table times_of(const std::string& title, const char* first_column, const std::vector<call_case>& cases) {
  table times{title, {first_column}, {}};
  add_median_columns(times.columns, "typical", "ns");
  times.columns.insert(times.columns.end(), {"p50 ns", "p99 ns", "p99.9 ns"});
  add_median_columns(times.columns, "floor", "ns");
  times.columns.insert(times.columns.end(), {"ratio", "ratio of medians", "quartiles", "over floor ns"});
  const bool made = !cases.front().making_ns.empty();
  if (made) times.columns.emplace_back("making ns");
  for (const call_case& one : cases) {
    const comparison found = one.rounds.compared();
    auto& row = times.rows.emplace_back(std::vector<cell>{one.name});
    add_median(row, found, 1, 1);
    add_percentiles(row, one.rounds.singles);
    add_floor(row, found, 1, 1);
    row.insert(row.end(), {{found.median_of_ratios, 3},
                           {found.ratio_of_medians, 3},
                           quartiles_of_ratio(found),
                           {found.median_difference, 1}});
    if (made) row.emplace_back(median(one.making_ns), 1);
  }
  return times;
}

void add_floor_row(table& to, const std::vector<call_case>& cases) {
  std::vector<double> typical;
  std::vector<double> singles;
  for (const call_case& one : cases) {
    typical.insert(typical.end(), one.rounds.floor.begin(), one.rounds.floor.end());
    singles.insert(singles.end(), one.rounds.floor_singles.begin(), one.rounds.floor_singles.end());
  }
  std::vector<cell> row{"floor"};
  add_median(row, typical, 1, 1);
  add_percentiles(row, std::move(singles));
  add_median(row, typical, 1, 1);
  row.insert(row.end(), {{1.0, 3}, {1.0, 3}, no_number(), {0.0, 1}});
  to.rows.push_back(std::move(row));
}

void add_bars(report& to, const std::vector<call_case>& cases, const char* of) {
  for (const call_case& one : cases) {
    to.bars.push_back({one.name + " of " + of + " / the same lines written and copied out",
                       one.rounds.compared().median_of_ratios, bar::direction::at_most, wanted_ratio, ""});
  }
}

}  // namespace

report run_latency(const settings& how) {
  session with(how);
  latency_cases all(with);
  all.measure();

  report result{"latency", {}, {}, {}};
  result.tables.push_back(
      times_of("one call and its answer; floor: a cache line bounced between two processes", "call", all.empty()));
  add_floor_row(result.tables.back(), all.empty());
  result.tables.push_back(
      times_of("calls with arguments; floor: as many lines written by one process and copied out by the other, one "
               "flag back",
               "arguments", all.arguments()));
  result.tables.push_back(
      times_of("calls with results; floor: one flag there, as many lines written by the other process and copied out "
               "here, and making the result",
               "result", all.results()));
  result.tables.push_back(times_of("put of 4 KiB and an empty call; floor: an empty call", "verbs", all.puts()));
  result.bars.push_back({"put of 4 KiB and then_call / an empty call",
                         all.puts().front().rounds.compared().median_of_ratios, bar::direction::at_most, 1.20, ""});
  const comparison empty = all.empty().front().rounds.compared();
  const bool has_its_floor = how.transport == "shm";
  result.tables.push_back(framework_part({{how.transport, empty}}));

  if (has_its_floor) {
    result.bars.push_back(
        {"empty sync / cache-line bounce", empty.median_of_ratios, bar::direction::at_most, 1.20, ""});
    result.bars.push_back({"framework part of it", empty.median_difference, bar::direction::at_most, 60, "ns"});
    add_bars(result, all.arguments(), "arguments");
    add_bars(result, all.results(), "result");
  } else {
    result.remarks.push_back("the floor is that of shared memory, not of " + how.transport + ": no bars");
  }
  result.remarks.push_back(
      "ratio: median over the rounds of typical / floor taken side by side; typical: without the clock's "
      "own cost; percentiles: single calls");
  result.remarks.emplace_back("arguments are copied out once, as in the floor");
  with.add_remarks(result);
  return result;
}

}  // namespace ham::bench
