// Forwarded system calls (paper 4): what a write and a read of the host's files, and a line of output, cost a target,
// beside local ones.
// args: --max-bytes 4096 --repetitions 2 --milliseconds 1
// expect: ^ *write, local system call +1 +[0-9.]+
// expect: ^ *read, HAM call over [a-z]+ +4096 +[0-9.]+
// expect: ^ *local write +8 +[0-9.]+
// expect: ^ *(on_output over [a-z]+ +2048 +[0-9.]+|note: no on_output over loopback)
// expect: ^  files and reads with other bytes than were written +0\.00 +\(<= 0\.00\)  ok$
#include <ham/offload.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/statistics.hpp"
#include "common/program.hpp"
#include "common/quartiles.hpp"
#include "common/targets.hpp"
#include "forwarded_calls/paths.hpp"

namespace {

namespace bench = ham::bench;
using forwarded_calls::operation;
using forwarded_calls::output_path;
using forwarded_calls::path;

struct options : app::settings {
  std::uint64_t max_bytes = 4 << 20;
  double milliseconds = 20.0;
};

/// Calls that take about the wanted time, if `seconds_of` gives that of so many.
template <class Seconds>
std::uint64_t count_for(double milliseconds, Seconds seconds_of) {
  (void)seconds_of(1);
  const double once = seconds_of(3) / 3.0;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(1e-3 * milliseconds / once), 3, 100'000);
}

/// Rows of one size: of each way the times, and what it takes longer than the first one, which is local.
void add_rows(bench::table& to, std::uint64_t bytes, const std::vector<std::string>& names,
              const std::vector<std::vector<double>>& microseconds) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const app::quartiles time = app::quartiles_of(microseconds[i]);
    const double gigabytes_us = 1e-3 * static_cast<double>(bytes);
    std::vector<bench::cell> row = app::joined({names[i], bench::count(bytes)}, app::cells_of(time, 3));
    row.insert(row.end(),
               {{gigabytes_us / time.median, 3}, {bench::range{gigabytes_us / time.high, gigabytes_us / time.low}, 3}});
    if (i == 0) {
      row.insert(row.end(), {"-", "-"});
    } else {
      const bench::comparison more = bench::compare(microseconds[i], microseconds[0]);
      row.insert(row.end(),
                 {{more.median_difference, 3}, {bench::range{more.difference_low, more.difference_high}, 3}});
    }
    to.rows.push_back(std::move(row));
  }
}

/// `repetitions` of each way in turns: microseconds of one of `counts[i]` calls, if `seconds_of(i, count)` makes them.
template <class Seconds>
std::vector<std::vector<double>> measure(const std::vector<std::uint64_t>& counts, int repetitions,
                                         Seconds seconds_of) {
  std::vector<std::vector<double>> microseconds(counts.size());
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      microseconds[i].push_back(1e6 * seconds_of(i, counts[i]) / static_cast<double>(counts[i]));
    }
  }
  return microseconds;
}

/// Returns how many files and reads had other bytes than were written.
std::uint64_t measure_files(const options& chosen, const std::vector<std::shared_ptr<path>>& paths,
                            bench::report& report) {
  bench::table table;
  table.title = "System calls on a file in memory of the kernel, one after the other";
  table.columns = app::joined(app::joined({"system call", "bytes"}, app::quartile_columns("time per call", "us")),
                              {"rate (GB/s)", "rate (GB/s): quartiles", "more than a local call (us)",
                               "more than a local call (us): quartiles"});
  std::uint64_t wrong = 0;
  for (const operation which : {operation::write, operation::read}) {
    std::vector<std::string> names;
    for (const auto& by : paths) names.push_back((which == operation::write ? "write, " : "read, ") + by->name());
    for (std::uint64_t bytes = 1; bytes <= chosen.max_bytes; bytes = bytes == 1 ? 64 : bytes * 8) {
      std::vector<std::uint64_t> counts;
      for (const auto& by : paths) {
        by->clear_file(bytes);
        (void)by->seconds_of(operation::write, bytes, 1);
        wrong += by->file_is_right(bytes) ? 0 : 1;
        counts.push_back(
            count_for(chosen.milliseconds, [&](std::uint64_t count) { return by->seconds_of(which, bytes, count); }));
      }
      add_rows(table, bytes, names, measure(counts, chosen.repetitions, [&](std::size_t i, std::uint64_t count) {
                 return paths[i]->seconds_of(which, bytes, count);
               }));
      for (const auto& by : paths) wrong += by->file_is_right(bytes) ? 0 : 1;
    }
  }
  report.tables.push_back(std::move(table));
  return wrong;
}

void measure_output(const options& chosen, const std::vector<std::shared_ptr<output_path>>& paths,
                    bench::report& report) {
  constexpr std::uint64_t largest_line = 32 << 10;
  constexpr std::uint64_t largest_file = 16 << 20;
  bench::table table;
  table.title = "Lines that a target prints, given to the host, until the last one is in a file there";
  table.columns = app::joined(app::joined({"output", "bytes"}, app::quartile_columns("time per line", "us")),
                              {"rate (GB/s)", "rate (GB/s): quartiles", "more than a local write (us)",
                               "more than a local write (us): quartiles"});
  std::vector<std::string> names;
  for (const auto& by : paths) names.push_back(by->output_name());
  const std::uint64_t largest = std::min(chosen.max_bytes, largest_line);
  for (std::uint64_t bytes = std::min<std::uint64_t>(8, largest); bytes <= largest; bytes *= 16) {
    std::vector<std::uint64_t> counts;
    for (const auto& by : paths) {
      const std::uint64_t count =
          count_for(chosen.milliseconds, [&](std::uint64_t lines) { return by->seconds_of_lines(bytes, lines); });
      counts.push_back(std::min(count, largest_file / bytes));
    }
    add_rows(table, bytes, names, measure(counts, chosen.repetitions, [&](std::size_t i, std::uint64_t count) {
               return paths[i]->seconds_of_lines(bytes, count);
             }));
  }
  report.tables.push_back(std::move(table));
}

app::outcome run(const options& chosen) {
  const ham::node_t target = app::chosen_targets(chosen).front();
  const forwarded_calls::paths local = forwarded_calls::make_local();
  const forwarded_calls::paths by_ham = forwarded_calls::make_ham(target);
  const forwarded_calls::paths by_vhcall = forwarded_calls::make_vhcall();
  std::vector<std::shared_ptr<path>> calls;
  std::vector<std::shared_ptr<output_path>> outputs;
  for (const auto& one : {local, by_ham, by_vhcall}) {
    if (one.calls) calls.push_back(one.calls);
    if (one.output) outputs.push_back(one.output);
  }

  app::outcome result;
  bench::report& report = result.report;
  report.name = "forwarded_calls";
  const std::uint64_t wrong = measure_files(chosen, calls, report);
  measure_output(chosen, outputs, report);
  report.bars.push_back({"files and reads with other bytes than were written", static_cast<double>(wrong),
                         bench::bar::direction::at_most, 0.0, ""});
  report.remarks = {
      "pwrite and pread at the beginning of a file in /tmp, measured where the program asks for them",
      by_vhcall.calls ? "VHcall: a kernel of libveo's helper calls a function in the host's process, where a thread of "
                        "its own is woken for each call; HAM's calls run in the thread that waits"
                      : "without VHcall: this program was built without libveo",
      by_ham.output
          ? "on_output: the target writes to its standard output and does not wait for the host, whose handler "
            "appends the lines to the file; lines were compared afterwards"
          : "no on_output over " + ham::offload::get_node_descriptor(target).transport() +
                ": such a target keeps its own output"};
  result.correct = wrong == 0;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App description{"System calls that a target forwards to the host, beside local ones.", "forwarded_calls"};
  options chosen;
  chosen.default_nodes = "shm:1";
  description.add_option("--max-bytes", chosen.max_bytes, "largest block that is written or read")
      ->check(CLI::Range(1, 32 << 20))
      ->capture_default_str();
  description.add_option("--milliseconds", chosen.milliseconds, "time for each repetition of each measurement")
      ->check(CLI::Range(0.0, 60'000.0))
      ->capture_default_str();
  return app::run(argc, argv, description, chosen, [&] { return run(chosen); });
}
