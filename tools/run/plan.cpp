// Distribution of targets over machines.
#include "plan.hpp"

#include "problem.hpp"

#include <algorithm>

namespace ham::inline v1::run {
namespace {

std::vector<machine> machines_of(const run_options& options, const std::string& this_node) {
  if (options.machines.empty()) return {{"localhost", options.nodes - 1}};
  std::vector<machine> machines = options.machines;
  if (options.slurm) {
    const auto here = std::ranges::find(machines, this_node, &machine::name);
    if (here != machines.end()) {
      here->name = "localhost";
      here->count -= 1;
    }
  }
  return machines;
}

/// Drops what is more than `wanted` targets.
void limit(std::vector<machine>& machines, std::size_t wanted) {
  std::size_t left = wanted;
  for (machine& one : machines) {
    one.count = std::min(one.count, left);
    left -= one.count;
  }
  if (left != 0) {
    throw problem("-n " + std::to_string(wanted + 1) + " asks for " + std::to_string(wanted) +
                  " targets beside the host, but the machines have places for " + std::to_string(wanted - left) +
                  "; write larger counts, as in --hosts a:4,b:4, or a smaller -n");
  }
}

}  // namespace

std::string target_group::prefix() const {
  std::string result = "[" + std::to_string(first);
  if (count > 1) result += "-" + std::to_string(first + count - 1);
  return result + "] ";
}

std::vector<target_group> plan_targets(const run_options& options, const std::string& this_node) {
  if (!options.choose_nodes()) return {};
  std::vector<machine> machines = machines_of(options, this_node);
  if (options.nodes != 0) limit(machines, options.nodes - 1);
  std::vector<target_group> groups;
  std::size_t next = 1;
  for (const machine& one : machines) {
    // What is printed can be told apart if each target has a connection of its own. Slurm starts one task per machine.
    const bool single = options.output_prefix && (one.is_this_one() || !options.slurm);
    for (std::size_t left = one.count; left > 0;) {
      const std::size_t count = single ? 1 : left;
      groups.push_back({one.is_this_one() ? "" : one.name, next, count});
      next += count;
      left -= count;
    }
  }
  if (next - 1 > max_targets) throw problem("a job has at most " + std::to_string(max_targets) + " targets");
  return groups;
}

std::string address_of(const std::string& machine) {
  const std::string name = machine.substr(machine.find('@') + 1);
  return name.find(':') == std::string::npos ? name : "[" + name + "]";
}

}  // namespace ham::run
