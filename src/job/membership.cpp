// Starting, adding and removing of targets.
#include "job/membership.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "base/clock.hpp"
#include "base/own_program.hpp"
#include "compose/transports.hpp"
#include "job/sole_change.hpp"
#include "runtime/options.hpp"
#include "transport/common/joining.hpp"

namespace ham::inline v1::detail {
namespace {

/// Joining has limits of its own, and the words of whoever knows them come first: a start of a process is given up
/// after as long, an invitation after HAM_TCP_TIMEOUT, or 10 s if that is less.
std::int64_t joining_ns(const target_group& group) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  if (!is_invited(group)) return second_ns;
  return 20 * second_ns + 2 * std::chrono::nanoseconds(tcp_timeout()).count();
}

config_error no_start(node_t number, const node_failure& failure) {
  return config_error("no start of target " + std::to_string(number) + " (" + failure.what() + ")");
}

}  // namespace

void membership::take(transport::process_group& group) {
  admit(group);
  trace(group.first(), group.size() - 1);
}

void membership::admit(transport::process_group& group) {
  const node_t first = group.first();
  const node_t end = first + static_cast<node_t>(group.size()) - 1;
  static_cast<void>(host_.peers.grow_to(static_cast<std::size_t>(end)));
  auto made = group.open(&host_.memory.own(), host_.events);
  transport::transport& ranks = *made;
  directory_.use_ranks(ranks, first, end);
  host_.use(std::move(made));
  host_.locked([&] {
    for (node_t number = first; number < end; ++number) {
      if (host_.peers.expect(number)) ranks.connect(number);
    }
  });
  for (node_t number = first; number < end; ++number) {
    try {
      host_.await_ready(number);  // without a limit: its launcher watches it
    } catch (const node_failure& failure) {
      throw no_start(number, failure);
    }
  }
  for (node_t number = first; number < end; ++number) warn_of_own_output(number);
}

/// These have joined. Nobody holds a lock: calls are made, and executed meanwhile.
void membership::trace(node_t first, std::size_t count) noexcept {
  if (trace_ == nullptr) return;
  std::vector<node_t> nodes(count);
  std::iota(nodes.begin(), nodes.end(), first);
  trace_->add(nodes);
}

/// A target that does not join is its transport's to end, which knows more about it; here, one that does not go on.
void membership::await(node_t number, const target_group& group, std::int64_t deadline_ns) {
  const std::int64_t limit = transport::start_limit_ns();
  const std::int64_t joins_by_ns = limit == 0 ? base::never_ns : base::now_ns() + limit + joining_ns(group);
  try {
    if (!host_.await_ready(number, std::min(joins_by_ns, deadline_ns))) {
      if (base::now_ns() >= deadline_ns)
        throw sole_change::too_late("target " + std::to_string(number) + " did not join");
      host_.part_with(number, transport::no_greeting(limit));
      host_.await_ready(number);
    }
  } catch (const node_failure& failure) {
    if (!is_invited(group)) throw no_start(number, failure);
    throw config_error(name_of_server(group) + " cannot be reached as target " + std::to_string(number) + " (" +
                       failure.what() + ")");
  }
}

/// The first of `count` numbers in a row that no node has had, and whose places in tables and shared memory are free.
node_t membership::free_numbers(std::size_t count, std::int64_t deadline_ns) {
  constexpr std::int64_t timeout_ns = 5 * peer_table::rest_ns;
  const auto places = static_cast<node_t>(peer_table::most);
  const std::int64_t until = std::min(base::now_ns() + timeout_ns, deadline_ns);
  for (bool resting = true; resting && count < peer_table::most;) {
    resting = false;
    auto first = static_cast<node_t>(host_.peers.size());
    const node_t last = first + 2 * places;
    for (node_t at = first; first <= last; ++at) {
      if (static_cast<std::size_t>(at - first) == count) return first;
      const peer_table::place place = host_.peers.place_of(at);
      if (place == peer_table::place::free && !started_.has_place_of(at)) continue;
      resting = resting || place != peer_table::place::taken;
      first = at + 1;
    }
    if (base::now_ns() >= until) break;
    base::sleep_ns(20'000'000);
  }
  if (base::now_ns() >= deadline_ns) throw sole_change::too_late("numbers of nodes that have gone are not free yet");
  throw config_error("cannot add " + std::to_string(count) + " nodes (a job has at most " +
                     std::to_string(peer_table::most) + " at a time); remove others first, or add fewer at once");
}

void membership::expect(const fresh_targets& planned) {
  if (planned.empty()) return;
  for (const fresh_target& one : planned) {
    if (one.starter != 0) host_.ways.add(one.node, one.starter);
  }
  bool room = false;
  host_.locked([&] {
    room = host_.peers.grow_to(static_cast<std::size_t>(planned.back().node) + 1);
    for (const auto& [number, group, starter] : planned) {  // who calls them before they are there waits
      if (room && !is_invited(*group)) static_cast<void>(host_.peers.expect(number));
    }
  });
  if (!room) throw config_error("this job has used up the numbers that nodes can have; start another one");
  for (const auto& [number, group, starter] : planned) {
    const transport::starting_factory* const by = group->by->as_starting();
    if (by != nullptr) directory_.set_company(number, by->host_factory().reaches(), starter);
  }
  if (std::ranges::any_of(planned, [](const fresh_target& one) { return is_invited(*one.group); }))
    directory_.begin_additions(planned.front().node);  // their addresses are known when they are there
}

node_t membership::start(const std::vector<target_group>& groups, std::int64_t deadline_ns, node_t stands_for) {
  sole_change change(host_, one_at_a_time_, deadline_ns);
  const std::size_t count = plan_targets(groups, 0, 1).size();
  const node_t first = count == 0 ? static_cast<node_t>(host_.peers.size()) : free_numbers(count, deadline_ns);
  const fresh_targets planned = plan_targets(groups, first, 1);
  const target_outputs::number_of_start as(started_.outputs(), first, stands_for);
  const replacements::starting supervised(host_.numbers, first, stands_for);
  if (stands_for < 0) warn_of_own_outputs(planned);
  invited_.prepare(planned);
  expect(planned);
  start_planned(planned, deadline_ns);
  change.end();
  trace(first, count);
  return first;
}

void membership::start(const fresh_targets& expected) {
  {
    const sole_change change(host_, one_at_a_time_);
    warn_of_own_outputs(expected);
    invited_.prepare(expected);
    start_planned(expected, base::never_ns);
  }
  if (!expected.empty())
    trace(expected.front().node, static_cast<std::size_t>(expected.back().node - expected.front().node) + 1);
}

void membership::start_planned(const fresh_targets& planned, std::int64_t deadline_ns) {
  if (planned.empty()) return;
  start_all(planned, static_cast<std::uint32_t>(planned.back().node) + 1, deadline_ns);
  remember_groups(planned);
  bool any_invited = false;
  for (const auto& [number, group, starter] : planned) {
    if (!is_invited(*group)) continue;
    any_invited = true;
    invited_.learn_address(number, *group);
  }
  const bool told_all = !any_invited && planned.front().node == 1;  // when they greeted
  if (!told_all) directory_.announce_to_all();
  for (const auto& [number, group, starter] : planned) {
    if (group->restarts) supervise(number, {});
  }
}

/// All of them, or none.
void membership::start_all(const fresh_targets& fresh, std::uint32_t nodes, std::int64_t deadline_ns) {
  const auto await_group = [&](node_t number, const target_group& group) { await(number, group, deadline_ns); };
  try {
    started_.start(targets_of(fresh, host_.self()), nodes);
    invited_.invite(fresh, await_group);
    for (const auto& [number, group, starter] : fresh) {
      if (!group->behind.empty()) directory_.start_behind(number, fresh);
    }
    for (const auto& [number, group, starter] : fresh) await_group(number, *group);
  } catch (...) {
    for (const auto& [number, group, starter] : fresh) {
      host_.part_with(number, "another target of its group could not be started");
      end_process(number, std::chrono::milliseconds(500));
      directory_.forget(number);
      started_.outputs().forget(number);
    }
    directory_.announce_to_all();
    throw;
  }
}

/// By whomever it was started; does nothing for those that were invited.
void membership::end_process(node_t number, std::chrono::milliseconds timeout) {
  started_.end(number, timeout);
  directory_.end_target(number, timeout);
}

node_t membership::add(const std::string& group, std::int64_t deadline_ns) {
  return add_groups(parse_nodes(group), started_.command(), deadline_ns);
}

node_t membership::spawn(const std::string& group, const std::string& program, std::int64_t deadline_ns) {
  std::vector<target_group> groups = parse_nodes(group);
  std::vector<std::string> command = started_.command();
  command.front() = program;
  for (target_group& one : groups) {
    if (!one.by->starts_programs()) {
      throw config_error("cannot start " + program + " as \"" + group +
                         "\" (only shm:COUNT and mpi:COUNT start programs)");
    }
    one.program.command = {program};
  }
  return add_groups(std::move(groups), command, deadline_ns);
}

node_t membership::add_groups(std::vector<target_group> groups, const std::vector<std::string>& command,
                              std::int64_t deadline_ns) {
  for (const target_group& one : groups) {
    const std::string name(one.by->name());
    if (one.by->as_in_process() != nullptr)
      throw config_error(name + " targets cannot be added to a job of other targets");
    if (one.by->as_launched() != nullptr && !one.by->starts_programs())
      throw config_error(name + " is for processes that spawn has started");
    if (one.each_rank) throw config_error("each:" + name + " belongs into HAM_NODES: ranks start targets with the job");
  }
  if (groups.empty()) throw config_error("there is no node to add in \"none\"");
  node_t first = -1;
  if (groups.front().by->as_launched() != nullptr) {
    first = spawn_ranks(groups.front(), command, deadline_ns);
    groups.erase(groups.begin());
  }
  if (groups.empty()) return first;
  const node_t next = start(groups, deadline_ns);
  return first < 0 ? next : first;
}

node_t membership::spawn_ranks(const target_group& group, const std::vector<std::string>& command,
                               std::int64_t deadline_ns) {
  sole_change change(host_, one_at_a_time_, deadline_ns);
  const node_t first = free_numbers(group.count, deadline_ns);
  std::vector<std::string> words = command;
  if (words.front() == base::own_program_link)
    words.front() = std::filesystem::read_symlink(words.front());  // not the launcher's own
  admit(*group.by->as_launched()->spawn(std::move(words), group.count, first));
  directory_.announce_to_all();
  change.end();
  trace(first, group.count);
  return first;
}

node_t membership::add(const offload::target_program& program, std::int64_t deadline_ns) {
  if (program.command.empty()) throw config_error("a target needs a command to be started by");
  target_group group(program_starter());
  group.program = {program.command, program.environment, true};
  group.cores = program.cores;
  return start({group}, deadline_ns);
}

void membership::remove(node_t node, std::chrono::milliseconds timeout) {
  if (node == 0) throw config_error("the host cannot be removed; leave main to end the job");
  const node_t number = host_.numbers.number_of(node);
  {
    std::lock_guard guard(groups_mutex_);
    groups_.erase(number);  // before anything else: from here on nobody can supervise it again
  }
  const bool supervised = supervisor_.supervises(number);
  const node_t process = supervised ? supervisor_.release(number) : node;
  constexpr const char* why = "it was removed from the job";
  end_target(process, why, timeout);
  if (supervised) {  // why its first process has died is not what became of the number
    const peer_hold first = host_.peers.hold(number);
    host_.locked([&] {
      if (first && first->state.load() == peer_state::lost) first->about.set_loss(why, true);
    });
  }
  std::lock_guard guard(groups_mutex_);
  groups_.erase(process);
  started_.outputs().forget(number);
}

void membership::end_target(node_t process, const std::string& why, std::chrono::milliseconds timeout) {
  const sole_change change(host_, one_at_a_time_);
  host_.part_with(process, why, peer_end::left);
  end_process(process, timeout);
  forget(process);
}

}  // namespace ham::detail
