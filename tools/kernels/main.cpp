// What it costs to start kernels (Figures 3 and 4 of paper 5): one MPI_Comm_spawn for each; one spawn, then a call for
// each; one spawn, then one message for all. Run by ham-bench kernels, or with mpirun; prints a table, or JSON for
// plot.py. Spawns once, see docs/mpix.md; ham-bench runs it several times.
#include <ham/mpix_kernel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int max_kernels = 128;
constexpr double bar = 5;

struct options {
  int children = 2;
  int repetitions = 100;
  bool json = false;
  bool check = false;
  bool only_spawn = false;                // print what one spawn costs, and end
  std::vector<double> earlier_spawns_us;  // what such runs have printed
  std::string child;
};

struct spread {
  double median = 0;
  double low = 0;   // lower quartile
  double high = 0;  // upper quartile
};

struct times_us {
  spread call;      // until the calls have returned
  spread call_run;  // until the kernels have run
  spread multiple;
  spread multiple_run;
};

MPI_Comm comm = MPI_COMM_WORLD;
int rank = 0;

spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&values](double part) {
    const double position = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at(0.5), at(0.25), at(0.75)};
}

double median(std::vector<double> values) { return spread_of(std::move(values)).median; }

// Seconds that the slowest parent needs.
double timed(const std::function<void()>& what) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  what();
  double taken = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, comm);
  return taken;
}

MPI_Comm spawn(const options& how) {
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_spawn(how.child.c_str(), MPI_ARGV_NULL, how.children, MPI_INFO_NULL, 0, comm, &children,
                 MPI_ERRCODES_IGNORE);
  return children;
}

void end(MPI_Comm children) {
  MPIX_Kernel_call("", 0, nullptr, nullptr, 0, comm, children);
  MPI_Comm_disconnect(&children);
}

// The same kernel many times, in the form that the calls want.
class batch {
 public:
  batch()
      : names_(max_kernels, name_),
        counts_(max_kernels, 5),
        arguments_(max_kernels, places_),
        sizes_(max_kernels, sizes_of_one_) {}

  void call(int count, MPI_Comm children) {
    for (int i = 0; i < count; ++i) MPIX_Kernel_call(name_, 5, places_, sizes_of_one_, 0, comm, children);
  }
  void call_multiple(int count, MPI_Comm children) {
    MPIX_Kernel_call_multiple(count, names_.data(), counts_.data(), arguments_.data(), sizes_.data(), 0, comm,
                              children);
  }

 private:
  char name_[16] = "five_numbers";
  double values_[5] = {1, 2, 3, 4, 5};
  void* places_[5] = {&values_[0], &values_[1], &values_[2], &values_[3], &values_[4]};
  int sizes_of_one_[5] = {sizeof(double), sizeof(double), sizeof(double), sizeof(double), sizeof(double)};
  std::vector<char*> names_;
  std::vector<int> counts_;
  std::vector<void**> arguments_;
  std::vector<int*> sizes_;
};

void settle(MPI_Comm children) {
  MPIX_Kernel_status status;
  if (MPIX_Kernel_waitall(0, comm, children, &status) == MPI_SUCCESS) return;
  std::fprintf(stderr, "ham-bench kernels: %s\n", status.text);
  MPI_Abort(comm, 1);
}

times_us measure(int count, const options& how, MPI_Comm children) {
  batch kernels;
  std::vector<double> call;
  std::vector<double> call_run;
  std::vector<double> multiple;
  std::vector<double> multiple_run;
  const auto measure_one = [&](std::vector<double>& alone, std::vector<double>& run, const auto& start) {
    alone.push_back(1e6 * timed(start));
    settle(children);
    run.push_back(1e6 * timed([&] {
                    start();
                    settle(children);
                  }));
  };
  for (int i = 0; i < how.repetitions; ++i) {
    measure_one(call, call_run, [&] { kernels.call(count, children); });
    measure_one(multiple, multiple_run, [&] { kernels.call_multiple(count, children); });
  }
  return {spread_of(call), spread_of(call_run), spread_of(multiple), spread_of(multiple_run)};
}

MPI_Comm timed_spawn(const options& how, double& us) {
  MPI_Comm children = MPI_COMM_NULL;
  us = 1e6 * timed([&] { children = spawn(how); });
  return children;
}

// A spawn for each of `count` kernels, which are as many runs: the sum of those that were measured.
struct spawn_each {
  double us;
  bool measured;  // else so many times the median
};

spawn_each spawns_of(int count, const std::vector<double>& spawns_us) {
  const auto number = static_cast<std::size_t>(count);
  if (number > spawns_us.size()) return {count * median(spawns_us), false};
  return {std::accumulate(spawns_us.begin(), spawns_us.begin() + count, 0.0), true};
}

void print_table(const std::vector<int>& counts, const std::vector<times_us>& all, const std::vector<double>& spawns_us,
                 const options& how) {
  const double spawn_us = median(spawns_us);
  int parents = 0;
  MPI_Comm_size(comm, &parents);
  std::printf("kernels: %d parents, %d children, %d repetitions; one spawn %.0f ms\n\n", parents, how.children,
              how.repetitions, spawn_us / 1000);
  std::printf("Fig. 3: start of kernels, ms            |  Fig. 4: without the spawn, us\n");
  std::printf("%8s %11s %9s %9s |  %9s %9s %7s | %s\n", "kernels", "spawn each", "call", "multiple", "call", "multiple",
              "ratio", "until run: call, multiple");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const times_us& one = all[i];
    const spawn_each each = spawns_of(counts[i], spawns_us);
    std::printf("%8d %10.0f%c %9.1f %9.1f |  %9.1f %9.1f %7.1f | %9.1f %9.1f\n", counts[i], each.us / 1000,
                each.measured ? ' ' : '*', (spawn_us + one.call.median) / 1000, (spawn_us + one.multiple.median) / 1000,
                one.call.median, one.multiple.median, one.call.median / one.multiple.median, one.call_run.median,
                one.multiple_run.median);
  }
}

void print_json(const std::vector<int>& counts, const std::vector<times_us>& all, const std::vector<double>& spawns_us,
                const options& how) {
  int parents = 0;
  MPI_Comm_size(comm, &parents);
  std::printf("{\n  \"benchmark\": \"kernels\",\n  \"parents\": %d,\n  \"children\": %d,\n  \"repetitions\": %d,\n",
              parents, how.children, how.repetitions);
  const spread spawns = spread_of(spawns_us);
  std::printf("  \"spawn_us\": %.1f,\n  \"spawn_us_quartiles\": [%.1f, %.1f],\n  \"spawns_measured\": %zu,\n",
              spawns.median, spawns.low, spawns.high, spawns_us.size());
  std::printf("  \"rows\": [\n");
  const auto quartiles = [](const char* of, const spread& one) {
    std::printf("\"%s_quartiles\": [%.3f, %.3f], ", of, one.low, one.high);
  };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const times_us& one = all[i];
    const spawn_each each = spawns_of(counts[i], spawns_us);
    std::printf("    {\"kernels\": %d, \"spawn_each_us\": %.1f, \"spawn_each_measured\": %s, ", counts[i], each.us,
                each.measured ? "true" : "false");
    quartiles("call_us", one.call);
    quartiles("call_multiple_us", one.multiple);
    quartiles("call_run_us", one.call_run);
    quartiles("call_multiple_run_us", one.multiple_run);
    std::printf("\"call_us\": %.3f, \"call_multiple_us\": %.3f, ", one.call.median, one.multiple.median);
    std::printf("\"call_run_us\": %.3f, \"call_multiple_run_us\": %.3f}%s\n", one.call_run.median,
                one.multiple_run.median, i + 1 < counts.size() ? "," : "");
  }
  std::printf("  ]\n}\n");
}

int usage() {
  std::puts(
      "ham-bench kernels [--parents N] [--children N] [-r | --repetitions N] [--spawns N] [--mpi NAME] [--json] "
      "[--check]\n"
      "Cost of starting 1 to 128 MPI kernels (paper 5, Figures 3 and 4); --check ends with 1 if call_multiple of 128 "
      "is\n"
      "not 5 times cheaper than 128 calls. tools/kernels/plot.py plots what --json prints. Each spawn is a run of its "
      "own:\n"
      "a second MPI_Comm_spawn in one mpirun hangs now and then with Open MPI 4.1 (docs/mpix.md). --spawns: how many "
      "are "
      "measured (16);\n"
      "what a spawn for each of more kernels costs is extrapolated from them, and marked.");
  return 0;
}

bool read(int argc, char** argv, options& how) {
  how.child = std::string(argv[0]) + "-child";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json")
      how.json = true;
    else if (word == "--check")
      how.check = true;
    else if (word == "--children" && i + 1 < argc)
      how.children = std::max(1, std::atoi(argv[++i]));
    else if ((word == "--repetitions" || word == "-r") && i + 1 < argc)
      how.repetitions = std::max(1, std::atoi(argv[++i]));
    else if (word == "--only-spawn")
      how.only_spawn = true;
    else if (word == "--spawned-in-us" && i + 1 < argc)
      how.earlier_spawns_us.push_back(std::atof(argv[++i]));
    else if (word == "--child" && i + 1 < argc)
      how.child = argv[++i];
    else
      return false;
  }
  return true;
}

int run(const options& how) {
  std::vector<int> counts;
  std::vector<times_us> all;
  std::vector<double> spawns_us = how.earlier_spawns_us;
  spawns_us.push_back(0);
  const MPI_Comm children = timed_spawn(how, spawns_us.back());
  if (how.only_spawn) {
    end(children);
    if (rank == 0) std::printf("%.1f\n", spawns_us.back());
    return 0;
  }
  options warm = how;
  warm.repetitions = 5;
  measure(max_kernels, warm, children);
  for (int count = 1; count <= max_kernels; count *= 2) {
    counts.push_back(count);
    all.push_back(measure(count, how, children));
  }
  end(children);
  const double ratio = all.back().call.median / all.back().multiple.median;
  if (rank == 0 && how.json) print_json(counts, all, spawns_us, how);
  if (rank == 0 && !how.json) {
    print_table(counts, all, spawns_us, how);
    std::printf("spawn each: the sum of %zu spawns, each in a run of its own; * so many times their median\n",
                spawns_us.size());
    std::printf("\n%d calls / one call_multiple of %d: %.1f (bar: %.0f)%s\n", max_kernels, max_kernels, ratio, bar,
                ratio >= bar ? "" : " MISSED");
  }
  return how.check && ratio < bar ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") == 0) return usage();
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  options how;
  int result = 2;
  if (read(argc, argv, how))
    result = run(how);
  else if (rank == 0)
    usage();
  int worst = result;
  MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MAX, comm);
  MPI_Finalize();
  return worst;
}
