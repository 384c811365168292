// ham-bench values: long arguments and results, which go through memory that both sides map.
#include "benchmarks.hpp"
#include "sizes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t under_way = 8;
constexpr double wanted = 0.8;

std::size_t take(std::span<const double> values) { return values.size(); }
std::vector<double> give(std::size_t count) { return std::vector<double>(count, 1.5); }

struct measured_size {
  std::size_t bytes;
  std::vector<double> floor, making, both;                     ///< both: together, round by round
  std::vector<double> argument, eight, result;                 ///< nanoseconds
  std::vector<double> argument_part, eight_part, result_part;  ///< of the floor's speed, round by round
};

void measure(session& with, measured_size& of, const std::vector<double>& values, int round) {
  block_plan plan = with.how().plan();
  plan.group = of.bytes < (std::size_t{1} << 20) ? 16 : 2;
  const std::size_t count = of.bytes / sizeof(double);
  const std::span<const double> argument(values.data(), count);
  const auto floor = [&] {
    with.let_targets_sleep();
    return with.partner().copy_through(values.data(), of.bytes, plan).typical_ns;
  };
  double before = floor();
  const double one = time_block([&] { offload::sync(1, fn<&take>, argument); }, plan).typical_ns;
  std::deque<offload::future<std::size_t>> pending;
  const auto send = [&] {
    if (pending.size() == under_way) {
      pending.front().get();
      pending.pop_front();
    }
    pending.push_back(offload::async(1, fn<&take>, argument));
  };
  const double eight = time_block(send, plan).typical_ns;
  for (auto& each : pending) each.get();
  const double result = time_block([&] { (void)offload::sync(1, fn<&give>, count); }, plan).typical_ns;
  const double making = time_block(
                            [&] {
                              const std::vector<double> made = give(count);
                              asm volatile("" : : "r"(made.data()) : "memory");
                            },
                            plan)
                            .typical_ns;
  before = (before + floor()) / 2;  // on both sides of what it is compared with
  if (round < 0) return;            // buffers have grown, pages are there
  of.floor.push_back(before);
  of.making.push_back(making);
  of.both.push_back(before + making);
  of.argument.push_back(one);
  of.eight.push_back(eight);
  of.result.push_back(result);
  of.argument_part.push_back(before / one);
  of.eight_part.push_back(before / eight);
  of.result_part.push_back((before + making) / result);
}

}  // namespace

report run_values(const settings& how) {
  session with(how);
  const std::vector<double> values((std::size_t{32} << 20) / sizeof(double), 1.0);
  table found{
      "arguments by std::span<const double>, results by std::vector<double>; microseconds, and as part of the "
      "floor's speed (of a result: of making the vector here, and the floor)",
      {"size"},
      {}};
  for (const char* name : {"argument", "8 under way", "result"}) {
    add_median_columns(found.columns, name, "us");
    found.columns.insert(found.columns.end(), {std::string(name) + ": part", std::string(name) + ": quartiles"});
  }
  for (const char* name : {"floor", "making", "floor and making"}) add_median_columns(found.columns, name, "us");
  std::array<double, 3> lowest{1e9, 1e9, 1e9};
  constexpr std::size_t least = std::size_t{64} << 10;
  constexpr std::size_t most = std::size_t{32} << 20;
  const bool all_sizes = how.largest_bytes >= most;
  for (std::size_t bytes = least; bytes <= most && (bytes == least || bytes <= how.largest_bytes); bytes *= 2) {
    measured_size one{bytes, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    for (int round = -1; round < how.repetitions; ++round) measure(with, one, values, round);
    const std::array<const std::vector<double>*, 3> times{&one.argument, &one.eight, &one.result};
    const std::array<const std::vector<double>*, 3> parts{&one.argument_part, &one.eight_part, &one.result_part};
    auto& row = found.rows.emplace_back(std::vector<cell>{size_text(bytes)});
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double part = median(*parts[i]);
      lowest[i] = std::min(lowest[i], part);
      add_median(row, *times[i], 1e3, 2);
      row.emplace_back(part, 2);
      row.emplace_back(range{quantile(*parts[i], 0.25), quantile(*parts[i], 0.75)}, 2);
    }
    for (const auto* one_time : {&one.floor, &one.making, &one.both}) add_median(row, *one_time, 1e3, 2);
  }
  report result{"values", {}, {}, {}};
  result.tables.push_back(std::move(found));
  constexpr std::array<const char*, 3> names{"argument", "argument, 8 under way", "result"};
  for (std::size_t i = 0; all_sizes && i < names.size(); ++i) {
    result.bars.push_back({std::string(names[i]) + " of 64 KiB to 32 MiB, part of the floor's speed, the worst size",
                           lowest[i], bar::direction::at_least, wanted, ""});
  }
  if (!all_sizes) result.remarks.emplace_back("32 MiB was not measured (--largest), so nothing is judged");
  result.remarks.emplace_back(
      "floor: the bytes written by one process into shared memory and copied out by another, both spin");
  with.add_remarks(result);
  return result;
}

}  // namespace ham::bench
