// Targets by number; where they run is asked of them.
#include "common/targets.hpp"

#include <sched.h>

#include <string>
#include <thread>

#include "common/cores.hpp"

namespace app {
namespace {

namespace offload = ham::offload;

int current_core() { return sched_getcpu(); }

}  // namespace

std::vector<ham::node_t> chosen_targets(const settings& common) {
  std::vector<ham::node_t> nodes;
  for (ham::node_t node = 1; node < static_cast<ham::node_t>(offload::num_nodes()); ++node) {
    if (offload::alive(node)) nodes.push_back(node);
  }
  if (nodes.empty()) {
    throw bad_input("no targets (this process is the only node); unset HAM_NODES or set it to shm:2, for example");
  }
  const auto wanted = static_cast<std::size_t>(common.targets);
  if (wanted > nodes.size()) {
    const std::string number = std::to_string(wanted);
    throw bad_input("--targets " + number + ": there " + (nodes.size() == 1 ? "is" : "are") + " " +
                    std::to_string(nodes.size()) + (nodes.size() == 1 ? " target" : " targets") +
                    "; set HAM_NODES=shm:" + number + ", for example");
  }
  if (wanted > 0) nodes.resize(wanted);
  return nodes;
}

std::vector<std::size_t> numbers_up_to(std::size_t n) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 1; i < n; i = n <= 4 ? i + 1 : 2 * i) numbers.push_back(i);
  numbers.push_back(n);
  return numbers;
}

std::vector<int> cores_of(const std::vector<ham::node_t>& targets) {
  using namespace std::chrono_literals;
  const std::vector<int> usable = usable_cores();
  std::vector<int> cores;
  std::this_thread::sleep_for(10ms);  // a target that has waited wakes on its core; until then it may be on any
  for (const ham::node_t node : targets) {
    const int core = offload::sync(node, ham::fn<&current_core>);
    const bool here = offload::get_node_descriptor(node).name() == offload::get_node_descriptor(0).name();
    const bool free = std::find(cores.begin(), cores.end(), core) == cores.end();
    if (!here || !free || std::find(usable.begin(), usable.end(), core) == usable.end()) {
      return std::vector<int>(targets.size(), -1);
    }
    cores.push_back(core);
  }
  return cores;
}

}  // namespace app
