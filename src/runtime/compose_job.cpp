// Starting, adding and removing of targets.
#include "runtime/compose_job.hpp"

#include <algorithm>
#include <utility>

#include "runtime/key_file.hpp"
#include "runtime/network_loader.hpp"
#include "runtime/options.hpp"

namespace ham::detail {
namespace {

network_settings settings_of_job() {
  network_settings how;
  const tcp_security security = security_of();
  how.secure = security == tcp_security::on;
  how.force_insecure = security == tcp_security::forced_off;
  how.job_key = random_key();
  how.timeout = tcp_timeout();
  return how;
}

}  // namespace

host_job::host_job(engine& host, transport::shm::host_transport& local, const runtime_options& options,
                   target_defaults defaults)
    : links(host, settings_of_job()), local_(local), options_(options), defaults_(std::move(defaults)) {
  use_local(local);
}

transport::shm::target_plan host_job::plan_for(const node_group& group, std::size_t member, node_t number) const {
  transport::shm::target_plan plan;
  plan.node = number;
  plan.command = defaults_.command;
  if (group.transport == "exec") {  // another build, with the application's own arguments
    plan.command = group.command;
    plan.command.insert(plan.command.end(), defaults_.command.begin() + 1, defaults_.command.end());
  }
  if (!group.cpus.empty())
    plan.cpus = {group.cpus[member % group.cpus.size()]};
  else if (!defaults_.affinity.empty())
    plan.cpus = {defaults_.affinity[static_cast<std::size_t>(number) % defaults_.affinity.size()]};
  return plan;
}

/// The key that servers want to see, if there is to be security. Read once: an inherited descriptor gives it only once.
std::optional<transport::secret_key> host_job::key_for_servers(const std::string& address) {
  if (security_of() != tcp_security::on) return std::nullopt;
  if (const std::string why = load_network("tcp").why_insecure(); !why.empty()) {
    throw config_error("cannot reach tcp://" + address + " with a key (" + why +
                       "); HAM_TCP_SECURITY=off does without on loopback addresses");
  }
  if (options_.key.empty()) {
    throw config_error("cannot reach tcp://" + address +
                       " (no key was given to show there); name the file that the waiting program was started with: "
                       "--ham-key=FILE or HAM_KEY");
  }
  if (!key_) key_ = read_key(options_.key);
  return key_;
}

void host_job::invite(const node_group& group, node_t number) {
  const auto key = key_for_servers(group.address);
  node().locked([&] {
    if (node().expect(number)) network().invite(number, group.address, key);
  });
}

/// A process that waits takes one host after the other: its targets are invited in turn, those of different ones at
/// once.
void host_job::invite_all(const std::vector<node_group>& groups, node_t first) {
  std::size_t rounds = 0;
  for (const node_group& group : groups) {
    if (group.transport == "tcp") rounds = std::max(rounds, group.count);
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto each = [&](auto&& act) {
      node_t number = first;
      for (const node_group& group : groups) {
        if (group.transport == "tcp" && round < group.count) act(group, number + static_cast<node_t>(round));
        number += static_cast<node_t>(group.count);
      }
    };
    each([&](const node_group& group, node_t number) { invite(group, number); });
    each([&](const node_group& group, node_t number) { await(number, group); });
  }
}

void host_job::await(node_t number, const node_group& group) {
  try {
    node().await_ready(number);
  } catch (const node_failure& failure) {
    const std::string what =
        group.transport == "tcp" ? "tcp://" + group.address + " cannot be reached as target " : "no start of target ";
    throw config_error(what + std::to_string(number) + " (" + failure.what() + ")");
  }
}

/// A node that listens on all its addresses is reached on the one that the host used.
void host_job::learn_address(node_t number, const node_group& group) {
  std::string address = node().address_of(number);
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return;  // it does not listen
  const std::string host = address.substr(0, colon);
  if (host == "0.0.0.0" || host == "[::]")
    address = group.address.substr(0, group.address.rfind(':')) + address.substr(colon);
  know(number, address);
}

node_t host_job::start(const std::vector<node_group>& groups) {
  std::lock_guard guard(one_at_a_time_);
  const auto first = static_cast<node_t>(node().num_nodes());
  std::vector<std::pair<node_t, const node_group*>> fresh;
  std::vector<transport::shm::target_plan> plans;
  for (const node_group& group : groups) {
    for (std::size_t i = 0; i < group.count; ++i) {
      const node_t number = first + static_cast<node_t>(fresh.size());
      fresh.emplace_back(number, &group);
      if (group.transport != "tcp") plans.push_back(plan_for(group, i, number));
    }
  }
  const std::size_t nodes = static_cast<std::size_t>(first) + fresh.size();
  if (!node().grow_to(nodes)) throw config_error("a job has at most " + std::to_string(peer_table::most) + " nodes");
  // Before processes are started here: they need not inherit the descriptor that the key may be in.
  const auto first_server = std::ranges::find(groups, "tcp", &node_group::transport);
  if (first_server != groups.end()) static_cast<void>(key_for_servers(first_server->address));
  try {
    if (!plans.empty()) local_.start(std::move(plans), static_cast<std::uint32_t>(nodes));
    invite_all(groups, first);
    for (const auto& [number, group] : fresh) await(number, *group);
  } catch (...) {
    for (const auto& [number, group] : fresh) {
      node().part_with(number, "another target of its group could not be started");
      if (group->transport != "tcp") local_.end(number);
    }
    throw;
  }
  for (const auto& [number, group] : fresh) {
    if (group->transport == "tcp") learn_address(number, *group);
  }
  if (know_any() || first > 1) {
    for (node_t number = 1; number < static_cast<node_t>(nodes); ++number) {
      if (node().ready(number)) announce(number);
    }
  }
  return first;
}

node_t host_job::add(const std::string& group) {
  const std::vector<node_group> groups = parse_nodes(group);
  for (const node_group& one : groups) {
    if (one.transport == "loopback") throw config_error("loopback targets cannot be added to a job of other targets");
  }
  return start(groups);
}

void host_job::remove(node_t number) {
  if (number == 0) throw config_error("the host cannot be removed; leave main to end the job");
  std::lock_guard guard(one_at_a_time_);
  node().part_with(number, "it was removed from the job");
  local_.end(number);
  node().locked([&] {
    if (network_if_open() != nullptr) network_if_open()->leave(number);
  });
}

}  // namespace ham::detail
