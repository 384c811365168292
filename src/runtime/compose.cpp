// The composition root: which transports a job uses.
#include "runtime/compose.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/own_program.hpp"
#include "base/settings.hpp"
#include "base/thread.hpp"
#include "ham/msg/thread_pool.hpp"
#include "runtime/group_loader.hpp"
#include "runtime/links.hpp"
#include "runtime/node_list.hpp"
#include "runtime/options.hpp"
#include "runtime/output.hpp"
#include "transport/emulated/target_transport.hpp"
#include "transport/loopback/cluster.hpp"
#include "transport/shm/host_transport.hpp"
#include "transport/shm/target_transport.hpp"

namespace ham::detail {
namespace {

namespace shm = transport::shm;
namespace emulated = transport::emulated;
namespace loopback = transport::loopback;

void pin_this_process(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    throw config_error("cannot run the host on core " + std::to_string(core) + " (" + std::strerror(errno) +
                       "); correct --ham-cpu-affinity or HAM_CPU_AFFINITY");
  }
}

/// The hosts of this process's jobs; the one made last that still lives is the process's engine. Never destroyed: a
/// library that ends its runtime may be unloaded after the destructors of this one have run.
std::mutex hosts_mutex;
auto& hosts = *new std::vector<engine*>;

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

void start_processes(runtime_parts& parts, const runtime_options& options, std::vector<node_group> groups,
                     target_defaults defaults, std::unique_ptr<transport::process_group> ranks) {
  parts.host = std::make_unique<engine>(0, 1, std::make_unique<base::heap>(base::heap::make_file()));
  parts.host->limit_messages(options.max_message != 0 ? options.max_message : message_limit());
  parts.whole = std::make_unique<host_job>(*parts.host, options, std::move(defaults));
  parts.host->belong_to(parts.whole.get());
  parts.host->set_one_sided(options.one_sided);
  if (ranks != nullptr) {
    parts.whole->take(*ranks);
    groups.erase(groups.begin());
  }
  if (!groups.empty()) parts.whole->start(groups);
}

/// The ranks of MPI, if they are to be nodes.
std::unique_ptr<transport::process_group> join_ranks(const std::vector<node_group>& groups, const void* communicator) {
  const std::string wanted = groups.empty() ? "" : groups.front().transport;
  if (wanted == "parent") return load_group_module().join_parent();
  if (wanted != "mpi") return nullptr;
  return join_all_ranks(communicator);
}

void start_loopback(runtime_parts& parts, std::size_t nodes, bool one_sided) {
  const auto job = std::make_shared<loopback::cluster>(nodes);
  const auto seat = [&](node_t node) {
    auto one = std::make_unique<engine>(node, nodes, std::make_unique<base::heap>(base::heap::make_file()));
    one->set_one_sided(one_sided);
    one->limit_messages(message_limit());
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
  for (std::size_t node = 1; node < nodes; ++node) parts.host->await_ready(static_cast<node_t>(node));
}

}  // namespace

std::unique_ptr<runtime_parts> start_job(const runtime_options& options, std::vector<std::string> command,
                                         const void* communicator) {
  const std::vector<node_group> groups = parse_nodes(options.nodes);
  placement_wish placement = parse_placement(options.cpu_affinity);
  auto parts = std::make_unique<runtime_parts>();
  std::unique_ptr<transport::process_group> ranks = join_ranks(groups, communicator);
  parts->ends_mpi = communicator == nullptr;
  if (ranks != nullptr && groups.front().count != 0 && groups.front().count + 1 != ranks->size()) {
    throw config_error("HAM_NODES asks for " + std::to_string(groups.front().count) + " targets, MPI has started " +
                       std::to_string(ranks->size()) + " ranks, host included; correct either, or write mpi alone");
  }
  if (ranks != nullptr && ranks->self() != 0) {
    parts->self = ranks->self();
    parts->nodes = ranks->size();
    run_rank(std::move(ranks));
    return parts;
  }
  if (!placement.cores.empty()) pin_this_process(placement.cores.front());
  if (!groups.empty() && groups.front().transport == "loopback") {
    std::size_t nodes = 1;
    for (const node_group& group : groups) nodes += group.count;
    start_loopback(*parts, nodes, options.one_sided);
  } else {
    if (command.empty()) command = {base::own_program_link};
    if (ranks != nullptr) placement.automatic = false;  // where ranks run is the launcher's business
    start_processes(*parts, options, groups, {std::move(command), std::move(placement)}, std::move(ranks));
  }
  if (options.progress_thread) parts->host->start_progress_thread();
  enter(parts->host.get());
  return parts;
}

runtime_parts::~runtime_parts() {
  if (host == nullptr) {
    if (ends_mpi && owner == ::getpid()) finish_group_module();
    return;
  }
  if (owner != ::getpid()) {  // a fork of the host: the job is the parent's
    static_cast<void>(host.release());
    static_cast<void>(whole.release());
    for (auto& target : local_targets) static_cast<void>(target.release());
    for (std::thread& one : target_threads) one.detach();
    return;
  }
  withdraw(host.get());
  host->leave();
  for (auto& target : local_targets) target->end();
  for (std::thread& one : target_threads) one.join();
  local_targets.clear();
  const bool had_ranks = whole != nullptr && whole->uses_ranks();
  host.reset();
  if (ends_mpi && had_ranks) finish_group_module();
}

bool is_target_process() { return base::in_environment(base::setting::target); }

namespace {

/// Joins the host that `transport` reaches, and executes calls until it has ended.
template <class Target>
void serve_host(engine& target, std::unique_ptr<Target> transport) {
  target.limit_messages(message_limit());
  network_settings how;
  how.timeout = tcp_timeout();
  links whole(target, how);
  target.belong_to(&whole);
  Target& joining = *transport;
  whole.use_local(joining);
  target.use(std::move(transport));
  set_process_engine(&target);
  joining.join();
  target.serve();
  msg::thread_pool::process().shutdown();
  target.leave();
  set_process_engine(nullptr);
}

void run_shm_target(int control_fd, bool plain_output) {
  shm::invitation invitation = shm::invitation::accept(control_fd);
  base::name_this_target(invitation.node);
  std::optional<line_output> output;
  if (!plain_output) output.emplace();
  auto heap = std::make_unique<base::heap>(std::move(invitation.own_heap));
  engine target(invitation.node, invitation.nodes, std::move(heap));
  serve_host(target, shm::target_transport::make(std::move(invitation), target));
}

void run_emulated_target(int control_fd, bool plain_output) {
  emulated::invitation invitation = emulated::invitation::accept(control_fd);
  base::name_this_target(invitation.said.node);
  std::optional<line_output> output;
  if (!plain_output) output.emplace();
  auto heap = std::make_unique<base::heap>(std::move(invitation.own_heap));
  engine target(invitation.said.node, invitation.said.nodes, std::move(heap));
  serve_host(target, std::make_unique<emulated::target_transport>(std::move(invitation), target));
}

}  // namespace

void run_target(bool plain_output) {
  // Whoever sets it has this process call what they like. A privileged host's own targets are no exception: they cannot
  // tell it from its caller.
  const std::string text = base::text_of(base::setting::target);
  ::unsetenv(base::info_of(base::setting::target).variable);  // what this process starts is no target
  if (text.starts_with("shm:"))
    run_shm_target(std::atoi(text.c_str() + 4), plain_output);
  else if (text.starts_with("emulated:"))
    run_emulated_target(std::atoi(text.c_str() + 9), plain_output);
  else
    throw config_error("HAM_TARGET=\"" + text + "\" is not what a host of this release sets; unset it");
}

}  // namespace ham::detail
