// What it costs to start kernels (Figures 3 and 4 of paper 5): one MPI_Comm_spawn for each; one spawn, then a call for
// each; one spawn, then one message for all; beside bare messages and bare spawns. Run by ham-bench kernels, or with
// mpirun; prints a table, or JSON for plot.py. Spawns once, see docs/mpix.md; ham-bench runs it several times.
#include <ham/mpix_kernel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bare_exchange.hpp"
#include "findings.hpp"

namespace {

namespace bench = ham::bench;
namespace kernels = ham::kernels;

constexpr int max_kernels = 128;
constexpr char empty_child[] = "--empty-child";

struct options {
  int children = 2;
  int repetitions = 100;
  bool json = false;
  bool check = false;
  bool only_spawn = false;                     // print what one spawn costs, and end
  bool bare = false;                           // with children that only connect and disconnect
  std::vector<double> earlier_spawns_us;       // what such runs have printed
  std::vector<double> earlier_bare_spawns_us;  // with `bare`
  std::string program;
  std::string child;
};

MPI_Comm comm = MPI_COMM_WORLD;
int rank = 0;

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
  std::string word = empty_child;
  char* words[] = {word.data(), nullptr};
  const std::string& program = how.bare ? how.program : how.child;
  MPI_Comm_spawn(program.c_str(), how.bare ? words : MPI_ARGV_NULL, how.children, MPI_INFO_NULL, 0, comm, &children,
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

// The library's times and those of the floor beside each, in turns.
struct rounds {
  std::vector<double> returned, returned_floor;
  std::vector<double> run, run_floor;
};

template <class Start>
void measure_once(rounds& into, bool floor_first, kernels::bare_exchange& floor, MPI_Comm children, Start start) {
  const auto bare = [&] {
    const kernels::bare_exchange::times_us found = floor();
    settle(children);
    into.returned_floor.push_back(found.sent);
    into.run_floor.push_back(found.answered);
  };
  if (floor_first) bare();
  into.returned.push_back(1e6 * timed(start));
  settle(children);
  into.run.push_back(1e6 * timed([&] {
                       start();
                       settle(children);
                     }));
  if (!floor_first) bare();
}

template <class Start>
kernels::bare_exchange floor_of(MPI_Comm children, Start start) {
  kernels::traffic calls = kernels::recorded(start);
  settle(children);
  kernels::traffic with_end = kernels::recorded([&] {
    start();
    settle(children);
  });
  return {std::move(calls), std::move(with_end), comm, children};
}

kernels::row measure(int count, const options& how, MPI_Comm children) {
  batch some;
  const auto call = [&] { some.call(count, children); };
  const auto multiple = [&] { some.call_multiple(count, children); };
  kernels::bare_exchange call_floor = floor_of(children, call);
  kernels::bare_exchange multiple_floor = floor_of(children, multiple);
  rounds called;
  rounds called_multiple;
  for (int i = 0; i < how.repetitions; ++i) {
    measure_once(called, i % 2 == 0, call_floor, children, call);
    measure_once(called_multiple, i % 2 == 0, multiple_floor, children, multiple);
  }
  return {count, bench::compare(called.returned, called.returned_floor), bench::compare(called.run, called.run_floor),
          bench::compare(called_multiple.returned, called_multiple.returned_floor),
          bench::compare(called_multiple.run, called_multiple.run_floor)};
}

MPI_Comm timed_spawn(const options& how, double& us) {
  MPI_Comm children = MPI_COMM_NULL;
  us = 1e6 * timed([&] { children = spawn(how); });
  return children;
}

int usage() {
  std::puts(
      "ham-bench kernels [--parents N] [--children N] [-r | --repetitions N] [--spawns N] [--mpi NAME] [--json] "
      "[--check]\n"
      "Cost of starting 1 to 128 MPI kernels (paper 5, Figures 3 and 4), beside MPI_Send and MPI_Recv of the same "
      "bytes,\n"
      "and beside MPI_Comm_spawn of a program that does nothing;\n"
      "--check ends with 1 if call_multiple of 128 is not 5 times cheaper than 128 calls. tools/kernels/plot.py plots "
      "what\n"
      "--json prints. Each spawn is a run of its own:\n"
      "a second MPI_Comm_spawn in one mpirun hangs now and then with Open MPI 4.1 (docs/mpix.md). --spawns: how many "
      "are "
      "measured (16);\n"
      "what a spawn for each of more kernels costs is extrapolated from them, and marked.");
  return 0;
}

bool read(int argc, char** argv, options& how) {
  how.program = argv[0];
  how.child = how.program + "-child";
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
    else if (word == "--bare")
      how.bare = true;
    else if (word == "--spawned-in-us" && i + 1 < argc)
      how.earlier_spawns_us.push_back(std::atof(argv[++i]));
    else if (word == "--spawned-bare-in-us" && i + 1 < argc)
      how.earlier_bare_spawns_us.push_back(std::atof(argv[++i]));
    else if (word == "--child" && i + 1 < argc)
      how.child = argv[++i];
    else
      return false;
  }
  return true;
}

int run(const options& how) {
  kernels::findings found;
  MPI_Comm_size(comm, &found.parents);
  found.children = how.children;
  found.repetitions = how.repetitions;
  found.spawns_us = how.earlier_spawns_us;
  found.spawns_us.push_back(0);
  found.bare_spawns_us = how.earlier_bare_spawns_us;
  MPI_Comm children = timed_spawn(how, found.spawns_us.back());
  if (how.only_spawn) {
    if (how.bare)
      MPI_Comm_disconnect(&children);
    else
      end(children);
    if (rank == 0) std::printf("%.1f\n", found.spawns_us.back());
    return 0;
  }
  options warm = how;
  warm.repetitions = 5;
  measure(max_kernels, warm, children);
  for (int count = 1; count <= max_kernels; count *= 2) found.rows.push_back(measure(count, how, children));
  end(children);
  if (rank == 0) (how.json ? kernels::print_json : kernels::print_table)(found);
  return how.check && !found.bar().met() ? 1 : 0;
}

// What a bare spawn starts.
int be_empty_child() {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") == 0) return usage();
  }
  MPI_Init(&argc, &argv);
  if (argc == 2 && std::strcmp(argv[1], empty_child) == 0) return be_empty_child();
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
