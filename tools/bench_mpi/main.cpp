// ham-bench-mpi-NAME, for mpirun -n 2: what HAM costs over MPI, beside MPI_Send and MPI_Recv between the same two ranks
// in the same run. Status 1 if a bar is missed and --check was given. Argument: number of rounds.
#include <ham/mpi.hpp>
#include <ham/offload.hpp>

#include <mpi.h>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include "../bench/report.hpp"
#include "../bench/timing.hpp"

namespace {

using namespace ham;
using namespace ham::bench;

constexpr int message_bytes = 16;  // of an empty call, and of its answer
constexpr int calls = 20'000;
constexpr std::size_t block_bytes = std::size_t{64} << 20;
constexpr int blocks = 4;

std::vector<std::byte>& floor_memory() {
  static std::vector<std::byte> memory(block_bytes, std::byte{1});
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
  table times{"floor: MPI_Send and MPI_Recv of the same bytes", {"what", "HAM", "floor", "ratio", "quartiles"}, {}};
  times.rows.push_back({"sync, empty: ns",
                        {latency.measured, 0},
                        {latency.floor, 0},
                        {latency.median_of_ratios, 3},
                        quartiles_of_ratio(latency)});
  for (const auto& [name, one] : {std::pair{"put 64 MiB: us", &put}, std::pair{"get 64 MiB: us", &get}}) {
    times.rows.push_back(
        {name, {one->measured / 1e3, 0}, {one->floor / 1e3, 0}, {one->median_of_ratios, 3}, quartiles_of_ratio(*one)});
  }
  result.tables.push_back(std::move(times));
  result.bars.push_back({"empty sync / ping-pong", latency.median_of_ratios, bar::direction::at_most, 1.15, ""});
  result.bars.push_back({"put bandwidth / MPI_Send", 1 / put.median_of_ratios, bar::direction::at_least, 0.95, ""});
  result.bars.push_back({"get bandwidth / MPI_Send", 1 / get.median_of_ratios, bar::direction::at_least, 0.95, ""});
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string_view text(version);
  result.remarks.emplace_back(text.substr(0, text.find_first_of(",\n")));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 9;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    check = check || std::string_view(argv[i]) == "--check";
    if (std::atoi(argv[i]) > 0) rounds = std::atoi(argv[i]);
  }
  int provided = 0;
  int status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    ham::runtime rt{ham::mpi_communicator(MPI_COMM_WORLD)};
    if (rt.this_node() == 0 && rt.num_nodes() < 2) {
      std::cerr << "ham-bench-mpi: needs two ranks: mpirun -n 2 ham-bench-mpi-...\n";
      status = 2;
    } else if (rt.this_node() == 0) {
      const report found = measure(rounds);
      print(std::cout, found);
      status = check && !found.all_met() ? 1 : 0;
    }
  }
  MPI_Finalize();
  return status;
}
