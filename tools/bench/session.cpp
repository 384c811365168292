// Runtime and floor side by side.
#include "session.hpp"

#include "process_state.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

namespace ham::inline v1::bench {

std::unique_ptr<runtime> start_job(const settings& how, int targets, pinning where, const std::string& trace) {
  runtime_options options;
  options.trace = trace;
  options.nodes = how.transport + ":" + std::to_string(targets) + (how.link.empty() ? "" : "/" + how.link);
  if (where == pinning::two_cores && how.cores.distinct()) {
    options.cpu_affinity = std::to_string(how.cores.host);
    for (int i = 0; i < targets; ++i) options.cpu_affinity += "," + std::to_string(how.cores.target);
  }
  if (where == pinning::none) options.cpu_affinity = "none";
  std::array<std::string, 2> words{"ham-bench", std::string(target_argument)};
  std::array<char*, 3> arguments{words[0].data(), words[1].data(), nullptr};
  int argc = 2;
  char** argv = arguments.data();
  return std::make_unique<runtime>(argc, argv, std::move(options));
}

int run_target(int argc, char** argv) {
  const runtime serves_and_ends(argc, argv);
  return EXIT_FAILURE;  // not reached in a process that was started as a target
}

void nothing() {}

session::session(const settings& how, int targets)
    : how_(how), runtime_(start_job(how, targets, pinning::two_cores)), partner_(how.cores) {
  pin_this_thread(how.cores.host);
  for (node_t node = 1; node <= targets; ++node) {
    offload::sync(node, fn<&nothing>);
    const auto pid = static_cast<pid_t>(offload::get_node_descriptor(node).pid());
    if (pid > 0 && pid != getpid()) pids_.push_back(pid);
  }
}

pid_t session::pid_of(node_t node) const { return static_cast<pid_t>(offload::get_node_descriptor(node).pid()); }

void session::let_targets_sleep() {
  for (const pid_t pid : pids_) {
    if (!wait_until_asleep(pid, std::chrono::milliseconds(200))) ++restless_;
  }
}

block_times session::bounce() {
  let_targets_sleep();
  return partner_.bounce(how_.plan());
}

void session::add_remarks(report& to) const {
  if (!how_.cores.distinct()) to.remarks.push_back("one core only: host and target take turns, the ratios say little");
  if (restless_ > 0) {
    to.remarks.push_back("a target was still running 200 ms after its last call, " + std::to_string(restless_) +
                         " time(s): it disturbed the floor");
  }
}

void paired_rounds::add(const block_times& measured_block, const block_times& floor_block) {
  measured.push_back(measured_block.typical_ns);
  floor.push_back(floor_block.typical_ns);
  singles.insert(singles.end(), measured_block.single_ns.begin(), measured_block.single_ns.end());
  floor_singles.insert(floor_singles.end(), floor_block.single_ns.begin(), floor_block.single_ns.end());
}

void take_round(paired_rounds& into, int round, const std::function<block_times()>& floor,
                const std::function<block_times()>& measured) {
  if (round % 2 == 0) {
    const block_times below = floor();
    into.add(measured(), below);
  } else {
    const block_times above = measured();
    into.add(above, floor());
  }
}

}  // namespace ham::bench
