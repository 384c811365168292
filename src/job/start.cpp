// Which kind of job it is: processes, ranks, or threads of this process.
#include "job/start.hpp"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/own_program.hpp"
#include "base/second_library.hpp"
#include "base/thread.hpp"
#include "compose/transports.hpp"
#include "job/key_file.hpp"
#include "job/main_here.hpp"
#include "job/node_list.hpp"
#include "job/run_target.hpp"
#include "runtime/objects.hpp"
#include "runtime/options.hpp"
#include "transport/in_process.hpp"

namespace ham::inline v1::detail {
namespace {

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

network_settings settings_of_job() {
  network_settings how;
  const tcp_security security = security_of();
  how.secure = security == tcp_security::on;
  how.force_insecure = security == tcp_security::forced_off;
  how.job_key = random_key();
  how.timeout = tcp_timeout();
  return how;
}

void start_processes(runtime_parts& parts, const runtime_options& options, target_defaults defaults,
                     std::unique_ptr<transport::process_group> ranks, const fresh_targets& planned) {
  parts.host = std::make_unique<engine>(0, 1, std::make_unique<base::heap>(base::heap::make_file()));
  parts.host->limit_messages(options.max_message != 0 ? options.max_message : message_limit());
  parts.directory = std::make_unique<node_directory>(*parts.host, settings_of_job());
  parts.trace = job_trace::start(*parts.host);
  parts.members = std::make_unique<membership>(*parts.host, *parts.directory, options, std::move(defaults));
  parts.main = std::make_unique<main_role>(*parts.host);
  parts.job = std::make_unique<node_job>(*parts.directory, parts.members.get(), parts.main.get());
  parts.host->owner = parts.job.get();
  parts.host->memory.set_one_sided(options.one_sided);
  parts.members->trace_by(parts.trace.get());
  if (ranks != nullptr) set_routes(*parts.host, planned, 1, static_cast<node_t>(ranks->size()));
  parts.members->expect(planned);  // those that ranks start may come before all ranks are there
  if (ranks != nullptr) parts.members->take(*ranks);
  parts.members->start(planned);
}

/// `failure`: why this process's part of the job has failed; nullptr: it has not.
void finish_launchers(const std::string* failure = nullptr) noexcept {
  for (const transport::factory* const one : transports()) {
    if (one->as_launched() != nullptr) one->as_launched()->finish(failure);
  }
}

void start_threads(runtime_parts& parts, const transport::in_process_factory& by, std::size_t nodes, bool one_sided) {
  const auto job = by.make_job(nodes);
  const auto seat = [&](node_t node) {
    auto one = std::make_unique<engine>(node, nodes, std::make_unique<base::heap>(base::heap::make_file()));
    one->memory.set_one_sided(one_sided);
    one->limit_messages(message_limit());
    one->use(job->open(node, one_sided ? &one->memory.own() : nullptr, one->events));
    return one;
  };
  parts.host = seat(0);
  parts.trace = job_trace::start(*parts.host);  // of all these nodes
  for (std::size_t node = 1; node < nodes; ++node) parts.local_targets.push_back(seat(static_cast<node_t>(node)));
  for (auto& target : parts.local_targets) {
    parts.target_threads.push_back(base::start_thread([&target = *target] {
      target.serve();
      destroy_objects_of(target);
      target.leave();
    }));
  }
  for (std::size_t node = 1; node < nodes; ++node) parts.host->await_ready(static_cast<node_t>(node));
}

/// The host, or a rank until the job has ended. Gives what takes the place of `parts` where main runs on this rank.
std::unique_ptr<runtime_parts> start_here(runtime_parts& parts, const runtime_options& options,
                                          const std::vector<target_group>& groups, target_defaults defaults,
                                          std::unique_ptr<transport::process_group> ranks) {
  if (ranks != nullptr && groups.front().count != 0 && groups.front().count + 1 != ranks->size()) {
    throw config_error("HAM_NODES asks for " + std::to_string(groups.front().count) + " targets, MPI has started " +
                       std::to_string(ranks->size()) + " ranks, host included; correct either, or write mpi alone");
  }
  const std::size_t processes = ranks == nullptr ? 1 : ranks->size();
  const bool added = ranks != nullptr && ranks->first() != 1;  // by spawn: the job has its targets
  const fresh_targets planned =
      added ? fresh_targets() : plan_targets(groups, static_cast<node_t>(processes), processes);
  if (processes + planned.size() > peer_table::most && !planned.empty()) {
    throw config_error("HAM_NODES asks for " + std::to_string(planned.size()) + " targets beside " +
                       std::to_string(processes) + " processes (a job has at most " + std::to_string(peer_table::most) +
                       " nodes at a time); ask for fewer, or start fewer");
  }
  if (ranks != nullptr) defaults.placement.automatic = false;  // where ranks run is the launcher's business
  if (ranks != nullptr && ranks->self() != 0) {
    parts.self = ranks->self();
    parts.nodes = processes + planned.size();
    defaults.placement.cores.clear();  // they say where the host's targets run
    target_of_main target = run_rank(std::move(ranks), planned, std::move(defaults));
    if (target == nullptr) return nullptr;
    main_here::begin(std::move(target), [ends_launchers = parts.ends_launchers] {
      if (ends_launchers) finish_launchers();
    });
    parts.is_of_launcher = false;  // that ends it
    return parts_of_main_here();
  }
  parts.metrics = metrics_server::of_process();
  if (!defaults.placement.cores.empty()) pin_this_process(defaults.placement.cores.front());
  if (!groups.empty() && groups.front().by->as_in_process() != nullptr) {
    std::size_t nodes = 1;
    for (const target_group& group : groups) nodes += group.count;
    start_threads(parts, *groups.front().by->as_in_process(), nodes, options.one_sided);
  } else {
    start_processes(parts, options, std::move(defaults), std::move(ranks), planned);
  }
  if (options.progress_thread) parts.host->start_progress_thread();
  enter(parts.host.get());
  return nullptr;
}

}  // namespace

std::unique_ptr<runtime_parts> start_job(const runtime_options& options, std::vector<std::string> command,
                                         const void* communicator) {
  base::expect_one_library();
  const std::vector<target_group> groups = parse_nodes(options.nodes);
  const placement_wish placement = parse_placement(options.cpu_affinity);
  auto parts = std::make_unique<runtime_parts>();
  const transport::launched_factory* const launcher = groups.empty() ? nullptr : groups.front().by->as_launched();
  parts->ends_launchers = communicator == nullptr;
  parts->is_of_launcher = launcher != nullptr;
  if (command.empty()) command = {base::own_program_link};
  try {
    std::unique_ptr<transport::process_group> ranks;
    if (launcher != nullptr) ranks = launcher->join(communicator);
    auto of_main = start_here(*parts, options, groups, {std::move(command), placement}, std::move(ranks));
    return of_main == nullptr ? std::move(parts) : std::move(of_main);
  } catch (const std::exception& problem) {
    parts->failure.emplace();  // whether or not there is memory for the text
    *parts->failure = problem.what();
    throw;
  }
}

int serve_main_elsewhere(runtime_parts& parts, const runtime_options& options, std::vector<std::string> command) {
  const auto where = static_cast<node_t>(options.main_node);
  if (parts.main == nullptr) {
    throw config_error("--ham-main-node=" + std::to_string(where) +
                       ": these targets are threads of this process, where main runs; choose another transport");
  }
  if (options.main_node >= parts.host->peers.size()) {
    throw config_error("--ham-main-node=" + std::to_string(options.main_node) + ": the job has nodes 0 to " +
                       std::to_string(parts.host->peers.size() - 1) + "; choose one of them, or ask for more targets");
  }
  command.front() = program_invocation_name;
  try {
    return parts.main->run_on(where, command, options.progress_thread);
  } catch (const node_failure& failure) {
    throw config_error(std::string("main has not come to its end: ") + failure.what());
  }
}

engine* runtime_parts::here() const noexcept {
  if (!runs_main) return host.get();
  main_here* const main = main_here::get();
  return main == nullptr ? nullptr : &main->node();
}

std::unique_ptr<runtime_parts> parts_of_main_here() {
  auto parts = std::make_unique<runtime_parts>();
  parts->runs_main = true;
  parts->self = parts->here()->self();
  parts->nodes = parts->here()->peers.size();
  return parts;
}

runtime_parts::~runtime_parts() {
  if (runs_main) {
    main_here::withdraw();
    return;
  }
  const std::string* const why = failure ? &*failure : nullptr;
  if (host == nullptr) {
    if (ends_launchers && is_of_launcher && owner == ::getpid()) finish_launchers(why);
    return;
  }
  if (owner != ::getpid()) {  // a fork of the host: the job is the parent's
    static_cast<void>(host.release());
    static_cast<void>(trace.release());
    if (metrics != nullptr) static_cast<void>(new std::shared_ptr(std::move(metrics)));  // its thread is the parent's
    static_cast<void>(job.release());
    static_cast<void>(members.release());
    static_cast<void>(directory.release());
    for (auto& target : local_targets) static_cast<void>(target.release());
    for (std::thread& one : target_threads) one.detach();
    return;
  }
  if (members != nullptr) members->end_supervision();
  destroy_objects_of(*host);
  if (trace != nullptr) trace->finish();
  withdraw(host.get());
  host->leave();
  if (members != nullptr) members->stop_supervision();
  for (auto& target : local_targets) target->end();
  for (std::thread& one : target_threads) one.join();
  local_targets.clear();
  const bool had_ranks = directory != nullptr && directory->has_ranks();
  host.reset();
  if (ends_launchers && (had_ranks || is_of_launcher)) finish_launchers(why);
}

}  // namespace ham::detail
