// Starting, adding and removing of targets.
#include "runtime/compose_job.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "base/own_program.hpp"
#include "runtime/group_loader.hpp"
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

host_job::host_job(engine& host, const runtime_options& options, target_defaults defaults)
    : links(host, settings_of_job()),
      accelerators_(host),
      options_(options),
      defaults_(std::move(defaults)),
      places_(defaults_.placement.automatic) {
  for (const int core : defaults_.placement.cores) claims_.take(core);  // others keep away if they can
}

transport::shm::host_transport& host_job::local() {
  if (local_ == nullptr) {
    auto made = transport::shm::host_transport::make(node().memory().fd(), node());
    local_ = made.get();
    use_local(*local_);
    node().use(std::move(made));
  }
  return *local_;
}

void host_job::take(transport::process_group& group) {
  const node_t first = group.first();
  const node_t end = first + static_cast<node_t>(group.size()) - 1;
  static_cast<void>(node().grow_to(static_cast<std::size_t>(end)));
  auto made = group.open(&node().memory(), node());
  transport::transport& ranks = *made;
  use_ranks(ranks, first, end);
  node().use(std::move(made));
  node().locked([&] {
    for (node_t number = first; number < end; ++number) {
      if (node().expect(number)) ranks.connect(number);
    }
  });
  node_group one;
  one.transport = ranks.name();
  for (node_t number = first; number < end; ++number) await(number, one);
}

transport::shm::target_plan host_job::plan_for(const node_group& group, std::size_t member, node_t number) const {
  transport::shm::target_plan plan;
  plan.node = number;
  plan.command = defaults_.command;
  if (group.transport == "exec") {  // another build, with the application's own arguments
    plan.command = group.command;
    if (!group.as_is) {
      plan.command.insert(plan.command.end(), defaults_.command.begin() + 1, defaults_.command.end());
    }
    plan.environment = group.environment;
  }
  if (group.as_is)
    plan.cpus = group.cpus;
  else if (!group.cpus.empty())
    plan.cpus = {group.cpus[member % group.cpus.size()]};
  else if (const auto& cores = defaults_.placement.cores; !cores.empty())
    plan.cpus = {cores[static_cast<std::size_t>(number) % cores.size()]};
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

/// Targets on this machine, each by the transport of its group.
void host_job::start_processes(const fresh_targets& fresh, std::uint32_t nodes) {
  std::vector<transport::shm::target_plan> plans;
  const bool own_program = std::any_of(fresh.begin(), fresh.end(), [](const auto& one) {
    return one.second->transport == "shm" || one.second->transport == "emulated";
  });
  if (own_program && defaults_.command.front() == base::own_program_link) base::expect_own_program_to_join();
  const auto each = [&](auto&& act) {
    const node_group* before = nullptr;
    std::size_t member = 0;
    for (const auto& [number, group] : fresh) {
      member = group == std::exchange(before, group) ? member + 1 : 0;
      if (group->transport != "tcp") act(*group, member, plan_for(*group, member, number));
    }
  };
  each([&](const node_group& group, std::size_t, transport::shm::target_plan plan) {
    if (!accelerators::start_here(group)) plans.push_back(std::move(plan));
  });
  if (!plans.empty()) place(fresh);
  if (!plans.empty()) local().start(std::move(plans), nodes);
  each([&](const node_group& group, std::size_t member, const transport::shm::target_plan& plan) {
    if (accelerators::start_here(group)) {
      accelerators_.start(group, member, {plan.node, plan.command, plan.cpus}, nodes);
    }
  });
}

/// Gives the host and new targets of this machine cores of their own; once they do not suffice for all, no node has
/// one.
void host_job::place(const fresh_targets& fresh) {
  std::erase_if(homes_, [this](const auto& home) {
    if (home.first == 0 || node().ready(home.first)) return false;
    claims_.release(home.second);  // its node has gone
    return true;
  });
  std::vector<node_t> homeless;
  if (!homes_.contains(0)) homeless.push_back(0);
  std::set<int> named;  // by the user, for others
  for (const auto& [number, group] : fresh) {
    local().set_home_core(number, -1);
    named.insert(group->cpus.begin(), group->cpus.end());
    if (group->transport != "tcp" && !accelerators::start_here(*group) && group->cpus.empty())
      homeless.push_back(number);
  }
  if (!places_ || homeless.back() == 0) return;
  std::vector<int> cores = cores_to_hand_out();
  std::erase_if(cores, [&](int core) { return named.contains(core); });
  cores = claims_.take(homeless.size(), cores);
  places_ = !cores.empty();
  if (!places_) {
    for (const auto& [number, core] : std::exchange(homes_, {})) {
      local().set_home_core(number, -1);
      claims_.release(core);
    }
    return;
  }
  for (std::size_t i = 0; i < homeless.size(); ++i) {
    homes_[homeless[i]] = cores[i];
    local().set_home_core(homeless[i], cores[i]);
  }
  node().live_at_home();
}

void host_job::end_process(node_t number, std::chrono::milliseconds patience) {
  if (local_ != nullptr) local_->end(number, patience);
  accelerators_.end(number, patience);
}

/// The first of `count` numbers in a row that no node has had, and whose places in tables and shared memory are free.
node_t host_job::free_numbers(std::size_t count) {
  constexpr std::int64_t timeout_ns = 5 * peer_table::rest_ns;
  const auto places = static_cast<node_t>(peer_table::most);
  const std::int64_t until = base::now_ns() + timeout_ns;
  for (bool resting = true; resting && count < peer_table::most;) {
    resting = false;
    auto first = static_cast<node_t>(node().num_nodes());
    const node_t last = first + 2 * places;
    for (node_t at = first; first <= last; ++at) {
      if (static_cast<std::size_t>(at - first) == count) return first;
      const peer_table::place place = node().place_of(at);
      if (place == peer_table::place::free && (local_ == nullptr || !local_->has_place_of(at))) continue;
      resting = resting || place != peer_table::place::taken;
      first = at + 1;
    }
    if (base::now_ns() >= until) break;
    base::sleep_ns(20'000'000);
  }
  throw config_error("cannot add " + std::to_string(count) + " nodes (a job has at most " +
                     std::to_string(peer_table::most) + " at a time); remove others first, or add fewer at once");
}

node_t host_job::start(const std::vector<node_group>& groups) {
  std::lock_guard guard(one_at_a_time_);
  // Before processes are started here: they need not inherit the descriptor that the key may be in.
  const auto first_server =
      std::find_if(groups.begin(), groups.end(), [](const node_group& one) { return one.transport == "tcp"; });
  if (first_server != groups.end()) static_cast<void>(key_for_servers(first_server->address));
  std::size_t count = 0;
  for (const node_group& group : groups) count += group.count;
  const node_t first = count == 0 ? static_cast<node_t>(node().num_nodes()) : free_numbers(count);
  fresh_targets fresh;
  for (const node_group& group : groups) {
    if (accelerators::start_here(group)) accelerators::check(group);
    for (std::size_t i = 0; i < group.count; ++i) {
      fresh.emplace_back(first + static_cast<node_t>(fresh.size()), &group);
    }
  }
  const std::size_t nodes = static_cast<std::size_t>(first) + fresh.size();
  bool room = false;
  node().locked([&] {
    room = node().grow_to(nodes);
    for (const auto& [number, group] : fresh) {  // who calls them before they are there waits
      if (room && group->transport != "tcp") static_cast<void>(node().expect(number));
    }
  });
  if (!room) throw config_error("this job has used up the numbers that nodes can have; start another one");
  try {
    start_processes(fresh, static_cast<std::uint32_t>(nodes));
    invite_all(groups, first);
    for (const auto& [number, group] : fresh) await(number, *group);
  } catch (...) {
    for (const auto& [number, group] : fresh) {
      node().part_with(number, "another target of its group could not be started");
      if (group->transport != "tcp") end_process(number);
    }
    throw;
  }
  for (const auto& [number, group] : fresh) {
    if (group->transport == "tcp") learn_address(number, *group);
  }
  if (know_any() || first > 1) tell_all();
  return first;
}

void host_job::tell_all() {
  for (const node_t number : node().ready_nodes()) announce(number);
}

node_t host_job::add(const std::string& group) { return add_groups(parse_nodes(group), defaults_.command); }

node_t host_job::spawn(const std::string& group, const std::string& program) {
  std::vector<node_group> groups = parse_nodes(group);
  std::vector<std::string> command = defaults_.command;
  command.front() = program;
  for (node_group& one : groups) {
    if (one.transport != "shm" && one.transport != "mpi") {
      throw config_error("cannot start " + program + " as \"" + group +
                         "\" (only shm:COUNT and mpi:COUNT start programs)");
    }
    if (one.transport == "mpi") continue;
    one.transport = "exec";
    one.command = {program};
  }
  return add_groups(std::move(groups), command);
}

node_t host_job::add_groups(std::vector<node_group> groups, const std::vector<std::string>& command) {
  for (const node_group& one : groups) {
    if (one.transport == "loopback") throw config_error("loopback targets cannot be added to a job of other targets");
    if (one.transport == "parent") throw config_error("parent is for processes that spawn has started");
  }
  if (groups.empty()) throw config_error("there is no node to add in \"none\"");
  node_t first = -1;
  if (groups.front().transport == "mpi") {
    first = spawn_ranks(groups.front().count, command);
    groups.erase(groups.begin());
  }
  if (groups.empty()) return first;
  const node_t next = start(groups);
  return first < 0 ? next : first;
}

node_t host_job::spawn_ranks(std::size_t count, const std::vector<std::string>& command) {
  if (count == 0) throw config_error("say how many processes MPI shall start, as in mpi:4");
  std::lock_guard guard(one_at_a_time_);
  const node_t first = free_numbers(count);
  std::vector<std::string> words = command;
  if (words.front() == base::own_program_link)
    words.front() = std::filesystem::read_symlink(words.front());  // not MPI's own
  words.emplace_back("--ham-nodes=parent");
  take(*load_group_module().spawn(words, count, first));
  tell_all();
  return first;
}

node_t host_job::add(const offload::target_program& program) {
  if (program.command.empty()) throw config_error("a target needs a command to be started by");
  node_group group;
  group.transport = "exec";
  group.command = program.command;
  group.environment = program.environment;
  group.as_is = true;
  group.cpus = program.cores;
  return start({group});
}

void host_job::remove(node_t number, std::chrono::milliseconds patience) {
  if (number == 0) throw config_error("the host cannot be removed; leave main to end the job");
  std::lock_guard guard(one_at_a_time_);
  node().part_with(number, "it was removed from the job");
  end_process(number, patience);
  forget_address(number);
  node().locked([&] {
    if (network_if_open() != nullptr) network_if_open()->leave(number);
  });
}

}  // namespace ham::detail
