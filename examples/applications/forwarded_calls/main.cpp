// Forwarded system calls (paper 4): what a write and a read of the host's files cost a target, beside local ones.
// args: --max-bytes 4096 --repetitions 2 --milliseconds 1
// expect: ^ *write, local system call +1 +[0-9.]+
// expect: ^ *read, HAM call over [a-z]+ +4096 +[0-9.]+
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
using forwarded_calls::path;

struct options : app::settings {
  std::uint64_t max_bytes = 4 << 20;
  double milliseconds = 20.0;
};

/// Calls that take about the wanted time.
std::uint64_t count_for(path& by, operation which, std::uint64_t bytes, double milliseconds) {
  (void)by.seconds_of(which, bytes, 1);
  const double once = by.seconds_of(which, bytes, 3) / 3.0;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(1e-3 * milliseconds / once), 3, 100'000);
}

app::outcome run(const options& chosen) {
  const ham::node_t target = app::chosen_targets(chosen).front();
  std::vector<std::unique_ptr<path>> paths;
  paths.push_back(forwarded_calls::make_local());
  paths.push_back(forwarded_calls::make_ham(target));
  if (auto vhcall = forwarded_calls::make_vhcall()) paths.push_back(std::move(vhcall));

  app::outcome result;
  bench::report& report = result.report;
  report.name = "forwarded_calls";
  bench::table table;
  table.title = "System calls on a file in memory of the kernel, one after the other";
  table.columns = app::joined(app::joined({"system call", "bytes"}, app::quartile_columns("time per call", "us")),
                              {"rate (GB/s)", "more than a local call (us)"});
  std::uint64_t wrong = 0;
  for (const operation which : {operation::write, operation::read}) {
    for (std::uint64_t bytes = 1; bytes <= chosen.max_bytes; bytes = bytes == 1 ? 64 : bytes * 8) {
      std::vector<std::vector<double>> microseconds(paths.size());
      std::vector<std::uint64_t> counts;
      for (auto& by : paths) {
        by->clear_file(bytes);
        (void)by->seconds_of(operation::write, bytes, 1);
        wrong += by->file_is_right(bytes) ? 0 : 1;
        counts.push_back(count_for(*by, which, bytes, chosen.milliseconds));
      }
      for (int repetition = 0; repetition < chosen.repetitions; ++repetition) {
        for (std::size_t i = 0; i < paths.size(); ++i) {
          const double seconds = paths[i]->seconds_of(which, bytes, counts[i]);
          microseconds[i].push_back(1e6 * seconds / static_cast<double>(counts[i]));
        }
      }
      for (std::size_t i = 0; i < paths.size(); ++i) {
        wrong += paths[i]->file_is_right(bytes) ? 0 : 1;
        const app::quartiles time = app::quartiles_of(microseconds[i]);
        const bench::cell more =
            i == 0 ? bench::cell("-")
                   : bench::cell(bench::compare(microseconds[i], microseconds[0]).median_difference, 3);
        const std::string name = which == operation::write ? "write, " : "read, ";
        table.rows.push_back(
            app::joined(app::joined({name + paths[i]->name(), bench::count(bytes)}, app::cells_of(time, 3)),
                        {{1e-3 * static_cast<double>(bytes) / time.median, 3}, more}));
      }
    }
  }
  report.tables.push_back(std::move(table));
  report.bars.push_back({"files and reads with other bytes than were written", static_cast<double>(wrong),
                         bench::bar::direction::at_most, 0.0, ""});
  report.remarks = {
      "pwrite and pread at the beginning of a file in /tmp, measured where the program asks for them",
      paths.size() > 2
          ? "VHcall: a kernel of libveo's helper calls a function in the host's process, where a thread of "
            "its own is woken for each call; HAM's calls run in the thread that waits"
          : "without VHcall: this program was built without libveo"};
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
