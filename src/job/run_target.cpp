// Targets: of a host on this machine, of a launcher, and on accelerators.
#include "job/run_target.hpp"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "base/backoff.hpp"
#include "base/own_program.hpp"
#include "base/settings.hpp"
#include "compose/transports.hpp"
#include "ham/msg/thread_pool.hpp"
#include "job/node_job.hpp"
#include "runtime/objects.hpp"
#include "runtime/options.hpp"
#include "runtime/output.hpp"
#include "transport/starting.hpp"

namespace ham::detail {

namespace {

/// What functions on targets mean by ham::offload, for as long as this is there.
class process_engine_scope {
 public:
  explicit process_engine_scope(engine& now) : before_(process_engine()) { set_process_engine(&now); }
  ~process_engine_scope() { set_process_engine(before_); }
  process_engine_scope(const process_engine_scope&) = delete;
  process_engine_scope& operator=(const process_engine_scope&) = delete;

 private:
  engine* const before_;
};

}  // namespace

void run_target(target_boot boot) {
  if (boot.memory == nullptr) boot.memory = std::make_unique<base::heap>(base::heap::make_file());
  engine target(boot.self, boot.nodes, std::move(boot.memory));
  target.limit_messages(message_limit());
  target.ways.set_starter(boot.starter);
  if (boot.begin) target.locked([&] { static_cast<void>(target.peers.expect(boot.starter)); });
  node_directory directory(target, boot.how);
  node_job job(directory);
  target.owner = &job;
  target.use(boot.open(target, directory));
  const process_engine_scope scope(target);
  boot.join();
  target.serve([&] {
    if (!boot.begin) return;
    try {
      target.await_ready(0);
      boot.begin(target);
    } catch (const node_failure&) {  // the job has ended, which serve() knows
    }
  });
  boot.ended();
  msg::thread_pool::process().shutdown();
  destroy_objects_of(target);
  target.leave();
  boot.left();
}

namespace {

using transport::company;

target_boot boot_of(transport::target_side& side, company reaches) {
  target_boot boot;
  boot.self = side.self();
  boot.starter = side.host();
  if (boot.starter != 0) boot.begin = [](engine&) {};  // it meets the host, which waits for that
  boot.nodes = side.nodes();
  boot.memory = side.take_memory();
  boot.open = [&side, reaches](engine& target, node_directory& directory) {
    auto made = side.open(target.events);
    if (reaches == company::nobody)
      directory.use_only(*made);
    else
      directory.use_local(*made, reaches == company::targets);
    return made;
  };
  boot.join = [&side] { side.join(); };
  return boot;
}

struct described_side {
  std::unique_ptr<transport::target_side> side;
  company reaches;
};

/// What HAM_TARGET=NAME:TEXT says.
described_side side_of(const std::string& set) {
  const std::size_t colon = set.find(':');
  const transport::factory* const by = colon == std::string::npos ? nullptr : find_transport(set.substr(0, colon));
  std::unique_ptr<transport::target_side> side;
  if (by != nullptr && by->as_starting() != nullptr) side = by->as_starting()->make_target(set.substr(colon + 1));
  if (side == nullptr) {
    throw config_error("HAM_TARGET=\"" + set + "\" is not what a host of this release sets; unset it");
  }
  return {std::move(side), by->as_starting()->host_factory().reaches()};
}

/// Of the transport that called ham_main.
described_side called_side(std::uint64_t address) {
  for (const transport::factory* const one : transports()) {
    if (one->as_starting() == nullptr) continue;
    if (auto side = one->as_starting()->make_called_target(address))
      return {std::move(side), one->as_starting()->host_factory().reaches()};
  }
  throw config_error(
      "ham_main was told of a ring in a place unknown here; build host and target from the same release");
}

/// Whether the host counts on the same targets as this rank, which is told soon after the greeting.
bool await_comparison(const node_directory& directory, engine& at) {
  base::backoff<base::backoff_schedule{.spins = 100, .yields = 100, .sleep_ns = 50'000}> pause;
  while (!directory.has_compared() && at.peers.is_ready(0)) {
    at.poll_once();
    pause.wait();
  }
  return directory.has_compared();
}

/// Tells of those that could not be started, as if they had been lost.
void start_own(started_targets& targets, engine& at, const fresh_targets& own, std::size_t nodes) {
  try {
    targets.start(own, static_cast<std::uint32_t>(nodes));
  } catch (const std::exception& problem) {
    for (const fresh_target& one : own) {
      at.events.report_lost(one.node, problem);
      targets.end(one.node, std::chrono::milliseconds(0));
    }
  }
}

}  // namespace

bool is_target_process() { return base::in_environment(base::setting::target); }

void run_target_process(bool plain_output) {
  // Whoever sets it has this process call what they like. A privileged host's own targets are no exception: they cannot
  // tell it from its caller.
  const std::string text = base::text_of(base::setting::target);
  ::unsetenv(base::info_of(base::setting::target).variable);  // what this process starts is no target
  const described_side made = side_of(text);
  base::name_this_target(made.side->self());
  std::optional<line_output> output;
  if (!plain_output) output.emplace();
  target_boot boot = boot_of(*made.side, made.reaches);
  boot.how.timeout = tcp_timeout();
  run_target(std::move(boot));
}

void run_called_target(std::uint64_t address) {
  const described_side made = called_side(address);
  run_target(boot_of(*made.side, made.reaches));
}

void run_rank(std::unique_ptr<transport::process_group> group, const fresh_targets& planned, target_defaults how) {
  const node_t first = group->first();
  const node_t end = first + static_cast<node_t>(group->size()) - 1;
  const node_t self = group->self();
  const fresh_targets own = targets_of(planned, self);
  const bool any_thread = group->for_any_thread();
  std::unique_ptr<started_targets> targets;  // on this node
  node_directory* known = nullptr;
  target_boot boot;
  boot.self = self;
  boot.nodes = static_cast<std::size_t>(end) + planned.size();
  boot.how.timeout = tcp_timeout();
  boot.open = [&](engine& target, node_directory& directory) {
    known = &directory;
    set_routes(target, planned, first, end);
    targets = std::make_unique<started_targets>(target, std::move(how));
    directory.end_targets_by(
        [&targets](node_t node, std::chrono::milliseconds timeout) { targets->end(node, timeout); });
    auto made = group->open(&target.memory.own(), target.events);
    group.reset();
    directory.use_ranks(*made, first, end);
    return made;
  };
  boot.begin = [&, nodes = boot.nodes](engine& target) {
    if (own.empty() || !await_comparison(*known, target)) return;
    if (any_thread) target.standby.start();  // passes things on while a function runs here
    start_own(*targets, target, own, nodes);
  };
  boot.left = [&] {
    for (const fresh_target& one : own) targets->end(one.node, std::chrono::milliseconds(500));
    targets.reset();
  };
  run_target(std::move(boot));
}

}  // namespace ham::detail
