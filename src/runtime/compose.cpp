// The composition root: which transports a job uses.
#include "runtime/compose.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/thread.hpp"
#include "ham/msg/thread_pool.hpp"
#include "runtime/facts.hpp"
#include "runtime/node_list.hpp"
#include "runtime/options.hpp"
#include "runtime/output.hpp"
#include "transport/loopback/cluster.hpp"
#include "transport/shm/host_transport.hpp"
#include "transport/shm/target_transport.hpp"

namespace ham::detail {
namespace {

namespace shm = transport::shm;
namespace loopback = transport::loopback;

constexpr const char* target_variable = "HAM_TARGET";

void pin_this_process(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    throw config_error("cannot run the host on core " + std::to_string(core) + " (" + std::strerror(errno) +
                       "); correct --ham-cpu-affinity or HAM_CPU_AFFINITY");
  }
}

/// The hosts of this process's jobs; the one made last that still lives is the process's engine.
std::mutex hosts_mutex;
std::vector<engine*> hosts;

void enter(engine* host) {
  std::lock_guard guard(hosts_mutex);
  hosts.push_back(host);
  set_process_engine(host);
}

void withdraw(engine* host) {
  std::lock_guard guard(hosts_mutex);
  std::erase(hosts, host);
  set_process_engine(hosts.empty() ? nullptr : hosts.back());
}

/// What starts a target of `group`: this program or the group's, with the application's own arguments.
std::vector<std::string> command_of(const node_group& group, const std::vector<std::string>& own) {
  if (group.transport != "exec") return own;
  std::vector<std::string> command = group.command;
  command.insert(command.end(), own.begin() + 1, own.end());
  return command;
}

std::vector<shm::target_plan> plans_for(const std::vector<node_group>& groups, const std::vector<int>& affinity,
                                        const std::vector<std::string>& command) {
  std::vector<shm::target_plan> plans;
  for (const node_group& group : groups) {
    if (group.transport == "tcp") {
      throw config_error("cannot reach tcp://" + group.address +
                         " (this build has no transport for other machines); use shm and exec: targets");
    }
    for (std::size_t i = 0; i < group.count; ++i) {
      shm::target_plan plan;
      plan.node = static_cast<node_t>(plans.size() + 1);
      plan.command = command_of(group, command);
      if (!group.cpus.empty())
        plan.cpus = {group.cpus[i % group.cpus.size()]};
      else if (!affinity.empty())
        plan.cpus = {affinity[(plans.size() + 1) % affinity.size()]};
      plans.push_back(std::move(plan));
    }
  }
  return plans;
}

void await_all(engine& host) {
  for (std::size_t node = 1; node < host.num_nodes(); ++node) {
    try {
      host.await_ready(static_cast<node_t>(node));
    } catch (const node_failure& failure) {
      throw config_error(std::string("target ") + std::to_string(node) + " could not be started (" + failure.what() +
                         ")");
    }
  }
}

void start_shm(runtime_parts& parts, const std::vector<node_group>& groups, const std::vector<int>& affinity,
               const std::vector<std::string>& command) {
  std::vector<shm::target_plan> plans = plans_for(groups, affinity, command);
  const std::size_t nodes = plans.size() + 1;
  parts.host = std::make_unique<engine>(0, nodes, std::make_unique<base::heap>(base::heap::make_file()));
  auto transport = shm::host_transport::make(parts.host->memory().fd(), *parts.host);
  shm::host_transport& starting = *transport;
  parts.host->use(std::move(transport));
  if (!plans.empty()) starting.start(std::move(plans), static_cast<std::uint32_t>(nodes));
}

void start_loopback(runtime_parts& parts, std::size_t nodes, bool one_sided) {
  const auto job = std::make_shared<loopback::cluster>(nodes);
  const auto seat = [&](node_t node) {
    auto one = std::make_unique<engine>(node, nodes, std::make_unique<base::heap>(base::heap::make_file()));
    one->set_one_sided(one_sided);
    one->use(std::make_unique<loopback::node_transport>(job, node, one_sided ? &one->memory() : nullptr, *one));
    return one;
  };
  parts.host = seat(0);
  for (std::size_t node = 1; node < nodes; ++node) parts.local_targets.push_back(seat(static_cast<node_t>(node)));
  for (auto& target : parts.local_targets) {
    parts.target_threads.push_back(base::start_thread([&target = *target] {
      target.serve();
      target.leave();
    }));
  }
}

}  // namespace

std::unique_ptr<runtime_parts> start_host(const runtime_options& options, std::vector<std::string> command) {
  const std::vector<node_group> groups = parse_nodes(options.nodes);
  const std::vector<int> affinity =
      options.cpu_affinity.empty() ? std::vector<int>() : parse_cores(options.cpu_affinity, ',');
  if (!affinity.empty()) pin_this_process(affinity.front());
  auto parts = std::make_unique<runtime_parts>();
  if (groups.front().transport == "loopback") {
    std::size_t nodes = 1;
    for (const node_group& group : groups) nodes += group.count;
    start_loopback(*parts, nodes, options.one_sided);
  } else {
    // The kernel's name for this very program: also right after it was replaced, moved, or found in PATH.
    if (command.empty()) command = {"/proc/self/exe"};
    start_shm(*parts, groups, affinity, command);
    parts->host->set_one_sided(options.one_sided);
  }
  await_all(*parts->host);
  if (options.progress_thread) parts->host->start_progress_thread();
  enter(parts->host.get());
  return parts;
}

runtime_parts::~runtime_parts() {
  if (host == nullptr) return;
  if (owner != ::getpid()) {  // a fork of the host: the job is the parent's
    static_cast<void>(host.release());
    for (auto& target : local_targets) static_cast<void>(target.release());
    for (std::thread& one : target_threads) one.detach();
    return;
  }
  withdraw(host.get());
  host->leave();
  for (auto& target : local_targets) target->end();
  for (std::thread& one : target_threads) one.join();
  local_targets.clear();
  host.reset();
}

bool is_target_process() { return std::getenv(target_variable) != nullptr; }

void run_target() {
  const std::string text = std::getenv(target_variable);
  ::unsetenv(target_variable);  // what this process starts is no target
  if (!text.starts_with("shm:")) {
    throw config_error("HAM_TARGET=\"" + text + "\" is not what a host of this release sets; unset it");
  }
  shm::invitation invitation = shm::invitation::accept(std::atoi(text.c_str() + 4));
  line_output output;
  auto heap = std::make_unique<base::heap>(std::move(invitation.own_heap));
  engine target(invitation.node, invitation.nodes, std::move(heap));
  auto transport = shm::target_transport::make(std::move(invitation), target);
  shm::target_transport& joining = *transport;
  target.use(std::move(transport));
  set_process_engine(&target);
  joining.join();
  target.serve();
  msg::thread_pool::process().shutdown();
  target.leave();
  set_process_engine(nullptr);
}

}  // namespace ham::detail
