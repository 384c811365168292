// ham-bench-mpi-NAME, for mpirun -n 2: what HAM costs over MPI, beside MPI_Send and MPI_Recv between the same two ranks
// in the same run. usage() says what can be asked for. Status 1 if a bar is missed and --check was given.
#include <ham/mpi.hpp>
#include <ham/offload.hpp>

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../bench/overlapped_transfers.hpp"
#include "../bench/report.hpp"
#include "../bench/sizes.hpp"
#include "../bench/spread.hpp"
#include "../bench/timing.hpp"
#include "../bench/topology.hpp"

namespace {

using namespace ham;
using namespace ham::bench;

constexpr int message_bytes = 16;  // of an empty call, and of its answer
constexpr int calls = 20'000;
constexpr std::size_t block_bytes = std::size_t{64} << 20;
constexpr int blocks = 4;

struct options {
  int rounds = 9;
  std::size_t largest_bytes = std::size_t{256} << 20;
  enum class measure { mpi, bandwidth, transfers } what = measure::mpi;
  bool check = false;
  bool json = false;
};

std::vector<std::byte>& floor_memory(std::size_t bytes = block_bytes) {
  static std::vector<std::byte> memory;
  if (memory.size() < bytes) memory.assign(bytes, std::byte{1});
  return memory;
}

void nothing() {}

// ---- the other side of the floors

void bounce_there() {
  std::byte text[message_bytes];
  for (int i = 0; i < calls; ++i) {
    MPI_Recv(text, message_bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(text, message_bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
  }
}

void receive_there() {
  std::vector<std::byte>& memory = floor_memory();
  for (int i = 0; i < blocks; ++i) {
    MPI_Recv(memory.data(), static_cast<int>(block_bytes), MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

enum class direction { to_target, to_host };

/// Bytes one way and one byte the other way, `count` times.
void exchange(direction way, int bytes, int count, int peer) {
  std::vector<std::byte>& memory = floor_memory(static_cast<std::size_t>(bytes));
  const bool sends = (way == direction::to_target) == (peer == 1);
  const auto send = [&](int size) { MPI_Send(memory.data(), size, MPI_BYTE, peer, 9, MPI_COMM_WORLD); };
  const auto receive = [&](int size) {
    MPI_Recv(memory.data(), size, MPI_BYTE, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  for (int i = 0; i < count; ++i) {
    // The host begins: with the bytes, or with the byte that asks for them.
    if (peer == 1) send(sends ? bytes : 1);
    receive(sends ? 1 : bytes);
    if (peer == 0) send(sends ? bytes : 1);
  }
}

void exchange_there(direction way, int bytes, int count) { exchange(way, bytes, count, 0); }

int current_cpu() { return ::sched_getcpu(); }

// ---- nanoseconds of one round trip, or of one block

double bounce() {
  auto there = offload::async(1, fn<&bounce_there>);
  std::byte text[message_bytes] = {};
  const auto once = [&] {
    MPI_Send(text, message_bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    MPI_Recv(text, message_bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  for (int i = 0; i < calls / 10; ++i) once();
  const std::int64_t begin = now_ns();
  for (int i = calls / 10; i < calls; ++i) once();
  const std::int64_t end = now_ns();
  there.get();
  return static_cast<double>(end - begin) / (calls - calls / 10);
}

double empty_calls() {
  for (int i = 0; i < calls / 10; ++i) offload::sync(1, fn<&nothing>);
  const std::int64_t begin = now_ns();
  for (int i = 0; i < calls; ++i) offload::sync(1, fn<&nothing>);
  return static_cast<double>(now_ns() - begin) / calls;
}

template <class Transfer>
double per_block(Transfer transfer) {
  const std::int64_t begin = now_ns();
  for (int i = 0; i < blocks; ++i) transfer();
  return static_cast<double>(now_ns() - begin) / blocks;
}

double send_blocks(const std::vector<std::byte>& local) {
  auto there = offload::async(1, fn<&receive_there>);
  const double time =
      per_block([&] { MPI_Send(local.data(), static_cast<int>(block_bytes), MPI_BYTE, 1, 8, MPI_COMM_WORLD); });
  there.get();
  return time;
}

double exchanges(direction way, std::size_t size_bytes, int count) {
  const int bytes = static_cast<int>(size_bytes);
  const int warm = std::max(1, count / 10);
  auto there = offload::async(1, fn<&exchange_there>, way, bytes, warm + count);
  exchange(way, bytes, warm, 1);
  const std::int64_t begin = now_ns();
  exchange(way, bytes, count, 1);
  const std::int64_t end = now_ns();
  there.get();
  return static_cast<double>(end - begin) / count;
}

template <class Transfer>
double transfers(int count, Transfer transfer) {
  for (int i = 0; i < std::max(1, count / 10); ++i) transfer();
  const std::int64_t begin = now_ns();
  for (int i = 0; i < count; ++i) transfer();
  return static_cast<double>(now_ns() - begin) / count;
}

// ----

/// Takes the floor and what is measured in turn, either first.
template <class Floor, class Measured>
comparison compare_rounds(int rounds, Floor floor, Measured measured) {
  std::vector<double> below;
  std::vector<double> found;
  for (int i = 0; i < rounds; ++i) {
    if (i % 2 == 0) below.push_back(floor());
    found.push_back(measured());
    if (i % 2 != 0) below.push_back(floor());
  }
  return compare(found, below);
}

std::string mpi_version() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string_view text(version);
  return std::string(text.substr(0, text.find_first_of(",\n")));
}

void check_bytes(std::vector<std::byte>& local, const offload::buffer<std::byte>& there) {
  std::fill(local.begin(), local.end(), std::byte{5});
  offload::put_sync(local.data(), there.ptr(), local.size());
  std::fill(local.begin(), local.end(), std::byte{0});
  offload::get_sync(there.ptr(), local.data(), local.size());
  if (std::count(local.begin(), local.end(), std::byte{5}) != static_cast<std::ptrdiff_t>(local.size())) {
    throw std::runtime_error("transfers over mpi have moved wrong bytes");
  }
}

/// Paper 3's Fig. 6.
report measure_bandwidth(const options& how) {
  const std::vector<std::size_t> sizes = transfer_sizes(how.largest_bytes);
  std::vector<std::byte> local(sizes.back());
  const offload::buffer<std::byte> there(1, sizes.back());
  check_bytes(local, there);
  table times{"put and get; floor: MPI_Send and MPI_Recv of the same bytes, and of a byte the other way",
              {"size", "bytes"},
              {}};
  for (const char* verb : {"put", "get"}) {
    add_median_columns(times.columns, verb, "us");
    add_spread_columns(times.columns, std::string(verb) + " GiB/s");
    add_median_columns(times.columns, std::string(verb) + " floor", "us");
    add_spread_columns(times.columns, std::string(verb) + " floor GiB/s");
    add_spread_columns(times.columns, std::string(verb) + " ratio");
  }
  const auto gib_per_s = [](std::size_t bytes, double ns) { return static_cast<double>(bytes) / ns * 1e9 / (1 << 30); };
  for (const std::size_t bytes : sizes) {
    const int count = static_cast<int>(std::clamp<std::size_t>((std::size_t{64} << 20) / bytes, 3, 200));
    auto& row = times.rows.emplace_back(std::vector<cell>{size_text(bytes), ham::bench::count(bytes)});
    const comparison put = compare_rounds(
        how.rounds, [&] { return exchanges(direction::to_target, bytes, count); },
        [&] { return transfers(count, [&] { offload::put_sync(local.data(), there.ptr(), bytes); }); });
    const comparison get = compare_rounds(
        how.rounds, [&] { return exchanges(direction::to_host, bytes, count); },
        [&] { return transfers(count, [&] { offload::get_sync(there.ptr(), local.data(), bytes); }); });
    for (const comparison* one : {&put, &get}) {
      add_median(row, *one, 1e3, 3);
      add_rate(row, gib_per_s(bytes, 1), one->measured, {one->measured_low, one->measured_high}, 5);
      add_floor(row, *one, 1e3, 3);
      add_rate(row, gib_per_s(bytes, 1), one->floor, {one->floor_low, one->floor_high}, 5);
      add_ratio(row, *one, 3);
    }
  }
  return {"bandwidth", {std::move(times)}, {}, {mpi_version()}};
}

int usable_cores() {
  cpu_set_t cores;
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

/// Ranks have memory mapped, or not, as between machines.
report measure_transfers(int rounds) {
  report found = measure_overlapped_transfers(rounds);
  const char* const map = std::getenv("HAM_MPI_MAP");
  const bool mapped = map == nullptr || std::string_view(map) != "0";
  found.tables.front().title +=
      mapped ? "; through mapped memory" : "; through MPI, as between machines (HAM_MPI_MAP=0)";
  found.remarks.push_back(mpi_version());
  if (::sysconf(_SC_NPROCESSORS_ONLN) > 1 && usable_cores() < 2)
    found.remarks.emplace_back("this rank may use one core only, so that nothing can overlap: mpirun --bind-to none");
  return found;
}

report measure(int rounds) {
  std::vector<std::byte> local(block_bytes, std::byte{2});
  const offload::buffer<std::byte> there(1, block_bytes);
  offload::put_sync(local.data(), there.ptr(), block_bytes);
  static_cast<void>(send_blocks(local));  // touches all pages

  const auto send = [&] { return send_blocks(local); };
  const comparison latency = compare_rounds(rounds, bounce, empty_calls);
  const comparison put = compare_rounds(
      rounds, send, [&] { return per_block([&] { offload::put_sync(local.data(), there.ptr(), block_bytes); }); });
  const comparison get = compare_rounds(
      rounds, send, [&] { return per_block([&] { offload::get_sync(there.ptr(), local.data(), block_bytes); }); });

  report result{"mpi", {}, {}, {}};
  table times{"floor: MPI_Send and MPI_Recv of the same bytes",
              {"what", "HAM", "quartile 1", "quartile 3", "floor", "quartile 1 floor", "quartile 3 floor", "ratio",
               "quartiles"},
              {}};
  const auto add_row = [&times](const char* name, const comparison& one, double unit_ns) {
    auto& row = times.rows.emplace_back(std::vector<cell>{name});
    add_median(row, one, unit_ns, 0);
    add_floor(row, one, unit_ns, 0);
    row.insert(row.end(), {{one.median_of_ratios, 3}, quartiles_of_ratio(one)});
  };
  add_row("sync, empty: ns", latency, 1);
  add_row("put 64 MiB: us", put, 1e3);
  add_row("get 64 MiB: us", get, 1e3);
  result.tables.push_back(std::move(times));
  result.tables.push_back(framework_part({{"mpi", latency}}));
  result.bars.push_back({"empty sync / ping-pong", latency.median_of_ratios, bar::direction::at_most, 1.15, ""});
  result.bars.push_back({"put bandwidth / MPI_Send", 1 / put.median_of_ratios, bar::direction::at_least, 0.95, ""});
  result.bars.push_back({"get bandwidth / MPI_Send", 1 / get.median_of_ratios, bar::direction::at_least, 0.95, ""});
  result.remarks.push_back(mpi_version());
  return result;
}

int usage() {
  std::cerr << "mpirun -n 2 ham-bench-mpi-... [bandwidth | transfers] [ROUNDS | -r ROUNDS] [--largest MIB] [--check] "
               "[--json]\n"
               "An empty call, and put and get of 64 MiB; with the word bandwidth, put and get of 1 B to 256 MiB;\n"
               "with the word transfers, put and get of 64 MiB while the host computes (mpirun --bind-to none).\n";
  return 2;
}

bool read(int argc, char** argv, options& how) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool valued = word == "-r" || word == "--repetitions" || word == "--largest";
    if (valued && i + 1 == argc) return false;
    if (word == "bandwidth")
      how.what = options::measure::bandwidth;
    else if (word == "transfers")
      how.what = options::measure::transfers;
    else if (word == "--check")
      how.check = true;
    else if (word == "--json")
      how.json = true;
    else if (word == "--largest")
      how.largest_bytes = std::max<std::size_t>(1, static_cast<std::size_t>(std::atof(argv[++i]) * (1 << 20)));
    else
      how.rounds = std::atoi(argv[valued ? ++i : i]);
  }
  constexpr std::size_t most = std::size_t{1} << 30;  // counts of MPI are ints
  return how.rounds > 0 && how.largest_bytes <= most && (!how.json || json_available());
}

conditions conditions_of(const options& how) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const core_pair cores{current_cpu(), offload::sync(1, fn<&current_cpu>)};
  return {host,       "mpi",        static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)),
          cores.host, cores.target, description_of(topology({cores.host, cores.target}).kind_of(cores)),
          how.rounds};
}

int run(const options& how) {
  const report found = how.what == options::measure::bandwidth   ? measure_bandwidth(how)
                       : how.what == options::measure::transfers ? measure_transfers(how.rounds)
                                                                 : measure(how.rounds);
  const conditions where = conditions_of(how);
  if (how.json) {
    print_json(std::cout, where, {found});
  } else {
    print(std::cout, where);
    print(std::cout, found);
  }
  return how.check && !found.all_met() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  options how;
  if (!read(argc, argv, how)) return usage();
  int provided = 0;
  int status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    ham::runtime rt{ham::mpi_communicator(MPI_COMM_WORLD)};
    if (rt.this_node() == 0 && rt.num_nodes() < 2) {
      std::cerr << "ham-bench-mpi: needs two ranks: mpirun -n 2 ham-bench-mpi-...\n";
      status = 2;
    } else if (rt.this_node() == 0) {
      status = run(how);
    }
  }
  MPI_Finalize();
  return status;
}
