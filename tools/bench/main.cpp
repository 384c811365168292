// ham-bench: what HAM costs on this machine, each figure beside the floor measured in the same run on the same cores.
// link: ham::ham
#include "benchmarks.hpp"
#include "cut_link.hpp"
#include "kernels.hpp"
#include "overlap_job.hpp"
#include "socket_partner.hpp"
#include "tcp_job.hpp"
#include "topology.hpp"

#include <ham/offload.hpp>
#include <ham/offload/detail/standard_descriptors.hpp>

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace ham::bench;

struct benchmark {
  const char* name;
  const char* description;
  report (*run)(const settings&);
};

constexpr benchmark benchmarks[] = {
    {"latency", "empty call, and calls with 8 B to 64 KiB of arguments or results", run_latency},
    {"rate", "calls per second: AVEO's Tests 1 to 4 for 1 to 100000 calls, and batches", run_rate},
    {"bandwidth", "put, get and copy of 1 B to 256 MiB", run_bandwidth},
    {"startup", "1 to 128 targets started, called once and ended; memory of each", run_startup},
    {"idle", "processor time of a waiting target; the first call after a second of silence", run_idle},
    {"scale", "latency to one target with 1 to 200 connected", run_scale},
    {"protocols", "the two one-sided protocols of paper 1 over emulated PCIe links", run_protocols},
    {"placement", "empty call over each kind of core pair that the machine has", run_placement},
    {"overlap", "work on host and target at once, pinned and placed by default, quiet and beside busy processes",
     run_overlap},
    {"transfers", "put and get of 64 MiB while the host computes", run_transfers},
    {"blocks", "put and get of rows at a pitch, in one operation and row by row", run_blocks},
    {"values", "long arguments and results by value, beside a bare copy through shared memory", run_values},
    {"relay", "calls between two targets that only the host connects", run_relay},
    {"event-loop", "an empty call whose host waits in epoll", run_event_loop},
    {"pool", "short tasks on a pool of two targets", run_pool},
    {"stops",
     "from a stop until a function that polls its token has seen it; calls with and without a token or deadline",
     run_stops},
    {"senders", "an empty call made as a sender, beside async", run_senders},
    {"respawn", "from the death of a supervised target to the next answer", run_respawn},
    {"groups", "one call for 1 to 256 targets along a tree", run_groups},
    {"graphs", "replays of recorded graphs beside the calls that they take the place of", run_graphs},
    {"traces", "calls while the job is traced", run_traces},
    {"threads", "calls from 1 to 4 host threads to one target, and from up to 8 to one each", run_threads},
    {"tcp", "calls and transfers over loopback sockets, in plaintext and with TLS", run_tcp},
    {"openmp", "empty calls and transfers beside OpenMP target regions on LLVM's host device", run_openmp},
#ifdef HAM_BENCH_VEO
    {"veo", "libveo: paper 2's Tests 1 to 4, memory, idleness", run_veo},
    {"veo-offload", "an empty native call of libveo, and HAM over that libveo", run_veo_offload},
#endif
};

struct command_line {
  settings how;
  std::string cores;
  double largest_mib = 256;
  bool json = false;
  bool check = false;
  std::vector<const benchmark*> chosen;
};

// Not one of the others: it runs under mpirun, has options of its own, and is not part of "all".
constexpr const char* about_kernels =
    "start of MPI kernels, 1 to 128 (paper 5, Figs. 3 and 4); kernels --help for its options";

void describe(CLI::App& app, command_line& line) {
  app.description("Measures HAM beside the floors of this machine. Best on an otherwise quiet machine.");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--repetitions,-r", line.how.repetitions, "rounds of floor and measurement")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--block-ms", line.how.block_ms, "length of one block of either")
      ->check(CLI::Range(1.0, 10'000.0))
      ->capture_default_str();
  app.add_option("--transport", line.how.transport, "transport to measure")->capture_default_str();
  app.add_option("--cores", line.cores,
                 "logical CPUs HOST,TARGET, or a kind of pair: siblings, same-l2, same-l3, other-l3, other-socket "
                 "(default: the first two that are no siblings and share an L3, if there are such)");
  app.add_option("--largest", line.largest_mib, "largest transfer of bandwidth, in MiB")
      ->check(CLI::Range(0.001, 65'536.0))
      ->capture_default_str();
  app.add_option(
         "--most-targets", line.how.max_targets,
         "of startup (default 128), scale (default 200) and groups (default 256); of the chain of graphs (2 to 8, "
         "default: as many as there are cores for beside the host's)")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--json", line.json, json_available() ? "print JSON" : "not available: built without nlohmann-json");
  app.add_flag("--check", line.check, "end with 1 if a bar is missed");
  for (const benchmark& one : benchmarks) {
    app.add_subcommand(one.name, one.description)->callback([&line, &one] { line.chosen.push_back(&one); });
  }
  app.add_subcommand("kernels", about_kernels);
  app.add_subcommand("all", "all of these")->callback([&line] {
    line.chosen.clear();
    for (const benchmark& one : benchmarks) {
      if (one.run != run_openmp || openmp_built()) line.chosen.push_back(&one);
    }
  });
}

// Options that every HAM application understands; a runtime answers them as it starts.
bool asks_ham_itself(int argc, char** argv) {
  return argc == 2 && (std::string_view(argv[1]) == "--ham-help" || std::string_view(argv[1]) == "--ham-list-handlers");
}

conditions conditions_of(const settings& how) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return {host,           how.transport,    static_cast<int>(how.all_cores.size()),
          how.cores.host, how.cores.target, description_of(topology(how.all_cores).kind_of(how.cores)),
          how.repetitions};
}

int run(const command_line& line) {
  const conditions where = conditions_of(line.how);
  std::vector<report> reports;
  for (const benchmark* one : line.chosen) {
    reports.push_back(one->run(line.how));
    if (line.json) continue;
    if (reports.size() == 1) print(std::cout, where);
    print(std::cout, reports.back());
    std::cout.flush();
  }
  if (line.json) print_json(std::cout, where, reports);
  const bool all_met = std::all_of(reports.begin(), reports.end(), [](const report& one) { return one.all_met(); });
  return line.check && !all_met ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  if (argc > 1 && argv[1] == floor_partner_argument) return run_floor_partner(argc, argv);
  if (argc > 1 && argv[1] == floor_nothing_argument) return EXIT_SUCCESS;
  if (argc > 1 && argv[1] == target_argument) return run_target(argc, argv);
  if (argc > 1 && argv[1] == socket_partner_argument) return run_socket_partner(argc, argv);
  if (argc > 1 && argv[1] == tcp_server_argument) return run_tcp_server(argc, argv);
  if (argc > 1 && argv[1] == overlap_job_argument) return run_overlap_job(argc, argv);
  if (argc > 1 && argv[1] == busy_argument) return run_busy(argc, argv);
  if (argc > 1 && argv[1] == cut_link_argument) return run_cut_link(argc, argv);

  if (argc > 1 && std::string_view(argv[1]) == "kernels") return run_kernels(argc, argv);

  if (asks_ham_itself(argc, argv)) {
    const ham::runtime answers_and_ends(argc, argv);
    return EXIT_SUCCESS;
  }

  CLI::App app;
  command_line line;
  describe(app, line);
  CLI11_PARSE(app, argc, argv);
  if (line.json && !json_available()) {
    std::cerr << "ham-bench: --json is not available (this program was built without nlohmann-json); leave it out or "
                 "rebuild with nlohmann-json installed\n";
    return EXIT_FAILURE;
  }
  line.how.largest_bytes = std::max<std::size_t>(1, static_cast<std::size_t>(line.largest_mib * (1 << 20)));
  try {
    line.how.all_cores = allowed_cores();
    const topology machine(line.how.all_cores);
    line.how.cores = line.cores.empty() ? machine.best() : machine.choose(line.cores);
    return run(line);
  } catch (const std::exception& problem) {
    std::cerr << "ham-bench: " << problem.what() << '\n';
    return EXIT_FAILURE;
  }
}
