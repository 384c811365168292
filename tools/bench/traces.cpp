// ham-bench traces: what calls cost while a trace of the whole job is written.
#include "benchmarks.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t calls_of_round = 200'000;

/// A folder for the files of traces, which goes with them.
class trace_folder {
 public:
  trace_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ham-bench-traces-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make the folder " + name + " for traces");
    path_ = name;
  }
  trace_folder(const trace_folder&) = delete;
  trace_folder& operator=(const trace_folder&) = delete;
  ~trace_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file() const { return (path_ / "run.pftrace").string(); }

 private:
  std::filesystem::path path_;
};

/// Empty calls, one after the other, in a job of their own. `trace`: the file; empty: there is none.
block_times time_job(const settings& how, const std::string& trace) {
  constexpr std::size_t to_warm_up = 10'000;
  const auto job = start_job(how, 1, pinning::two_cores, trace);
  for (std::size_t i = 0; i < to_warm_up; ++i) offload::sync(1, fn<&nothing>);
  const std::int64_t begin = now_ns();
  for (std::size_t i = 0; i < calls_of_round; ++i) offload::sync(1, fn<&nothing>);
  block_times result;
  result.typical_ns = static_cast<double>(now_ns() - begin) / static_cast<double>(calls_of_round);
  result.single_ns.push_back(result.typical_ns);
  return result;
}

}  // namespace

report run_traces(const settings& how) {
  paired_rounds rounds;
  for (int round = 0; round < how.repetitions; ++round) {
    take_round(
        rounds, round, [&] { return time_job(how, {}); },
        [&] {
          const trace_folder folder;  // each round begins with none
          return time_job(how, folder.file());
        });
  }
  const comparison cost = rounds.compared();
  report result{"traces", {}, {}, {}};
  table found{
      "a sync of an empty function while the job is traced to a file; floor: the same without a trace", {"call"}, {}};
  add_median_columns(found.columns, "time per call", "ns");
  found.columns.insert(found.columns.end(), {"floor ns", "ratio"});
  auto& row = found.rows.emplace_back();
  row.emplace_back("sync, empty");
  add_median(row, cost, 1, 1);
  row.insert(row.end(), {{cost.floor, 1}, {cost.median_of_ratios, 3}});
  result.tables.push_back(std::move(found));
  result.bars.push_back({"traced calls / calls", cost.median_of_ratios, bar::direction::at_most, 1.3, ""});
  result.remarks.push_back("the trace lies in " + std::filesystem::temp_directory_path().string() +
                           "; without the time that it takes to be put together at the end of the job");
  return result;
}

}  // namespace ham::bench
