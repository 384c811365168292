// Plans, host sides, and cores of started targets.
#include "job/started_targets.hpp"

#include <algorithm>
#include <set>

#include "base/own_program.hpp"

namespace ham::inline v1::detail {
namespace {

using transport::starting_factory;

/// nullptr: the host does not start targets of this group.
const starting_factory* starter_of(const target_group& group) {
  const starting_factory* const by = group.by->as_starting();
  return by == nullptr ? nullptr : &by->host_factory();
}

/// Hands the targets out group by group, with their number, and their place in the group.
template <class Act>
void each_group(const fresh_targets& fresh, Act act) {
  for (auto begin = fresh.begin(); begin != fresh.end();) {
    const auto end =
        std::find_if(begin, fresh.end(), [&](const fresh_target& one) { return one.group != begin->group; });
    if (const starting_factory* const by = starter_of(*begin->group)) act(*by, begin, end);
    begin = end;
  }
}

}  // namespace

started_targets::started_targets(engine& host, target_defaults defaults)
    : host_(host), defaults_(std::move(defaults)), places_(defaults_.placement.automatic) {
  for (const int core : defaults_.placement.cores) claims_.take(core);  // others keep away if they can
}

transport::host_side& started_targets::side_of(const starting_factory& by) {
  const auto found = sides_.find(&by);
  if (found != sides_.end()) return *found->second;
  transport::host_parts made = by.make_host(host_.self(), host_.memory.own(), host_.events);
  host_.use(std::move(made.carrier));
  return *sides_.emplace(&by, std::move(made.side)).first->second;
}

transport::start_plan started_targets::plan_for(const target_group& group, std::size_t member, node_t number) const {
  const std::vector<std::string>& own = defaults_.command;
  transport::start_plan plan{number, group.first_place + member, own, {}, group.program.environment};
  if (!group.program.command.empty()) {  // another build, with the application's own arguments
    plan.command = group.program.command;
    if (!group.program.complete) plan.command.insert(plan.command.end(), own.begin() + 1, own.end());
  }
  if (group.program.complete)
    plan.cores = group.cores;
  else if (!group.cores.empty())
    plan.cores = {group.cores[member % group.cores.size()]};
  else if (const auto& cores = defaults_.placement.cores; !cores.empty())
    plan.cores = {cores[static_cast<std::size_t>(number) % cores.size()]};
  return plan;
}

void started_targets::expect_own_program(const fresh_targets& fresh) const {
  const bool any = std::any_of(fresh.begin(), fresh.end(), [](const fresh_target& one) {
    const starting_factory* const by = one.group->by->as_starting();
    return by != nullptr && by->starts_own_program() && one.group->program.command.empty();
  });
  if (any && defaults_.command.front() == base::own_program_link) base::expect_own_program_to_join();
}

void started_targets::start(const fresh_targets& fresh, std::uint32_t nodes) {
  expect_own_program(fresh);
  bool placed = false;
  each_group(fresh, [&](const starting_factory& by, auto, auto) {
    if (by.places_nodes() && !std::exchange(placed, true)) place(fresh, side_of(by));
  });
  each_group(fresh, [&](const starting_factory& by, auto begin, auto end) {
    std::vector<transport::start_plan> plans;
    std::vector<output_pipes> pipes;
    for (auto at = begin; at != end; ++at) {
      plans.push_back(plan_for(*at->group, static_cast<std::size_t>(at - begin), at->node));
      if (!by.redirects_output()) continue;
      pipes.push_back(outputs_.begin(at->node));
      plans.back().output = pipes.back().fds();
    }
    side_of(by).start(*begin->group, std::move(plans), {nodes, static_cast<std::uint32_t>(host_.peers.living_nodes())});
  });
}

/// Gives the host and new targets of this machine cores of their own; once they do not suffice for all, no node has
/// one.
void started_targets::place(const fresh_targets& fresh, transport::host_side& placer) {
  std::erase_if(homes_, [this](const auto& home) {
    if (home.first == host_.self() || host_.peers.is_ready(home.first)) return false;
    claims_.release(home.second);  // its node has gone
    return true;
  });
  std::vector<node_t> homeless;
  if (!homes_.contains(host_.self())) homeless.push_back(host_.self());
  std::set<int> named;  // by the user, for others
  for (const auto& [number, group, starter] : fresh) {
    placer.set_home_core(number, -1);
    named.insert(group->cores.begin(), group->cores.end());
    const starting_factory* const by = starter_of(*group);
    if (by != nullptr && by->places_nodes() && group->cores.empty()) homeless.push_back(number);
  }
  if (!places_ || homeless.empty() || homeless.back() == host_.self()) return;
  std::vector<int> cores = cores_to_hand_out();
  std::erase_if(cores, [&](int core) { return named.contains(core); });
  cores = claims_.take(homeless.size(), cores);
  places_ = !cores.empty();
  if (!places_) {
    for (const auto& [number, core] : std::exchange(homes_, {})) {
      placer.set_home_core(number, -1);
      claims_.release(core);
    }
    return;
  }
  for (std::size_t i = 0; i < homeless.size(); ++i) {
    homes_[homeless[i]] = cores[i];
    placer.set_home_core(homeless[i], cores[i]);
  }
  host_.waits.adopt_home_core();
}

void started_targets::end(node_t node, std::chrono::milliseconds timeout) {
  for (const auto& [by, side] : sides_) side->end(node, timeout);
}

bool started_targets::has_place_of(node_t node) const {
  return std::any_of(sides_.begin(), sides_.end(), [&](const auto& one) { return one.second->has_place_of(node); });
}

void set_routes(engine& at, const fresh_targets& all, node_t first, node_t end) {
  at.ways.set_neighbours(first, end);
  for (const fresh_target& one : all) {
    // Of waiting programs ranks know nothing: what belongs to those is reached through the host.
    const bool of_rank = one.starter == 0 || (one.starter >= first && one.starter < end);
    at.ways.add(one.node, of_rank || at.self() == 0 ? one.starter : 0);
  }
  at.locked([&] {
    for (const fresh_target& one : targets_of(all, at.self())) static_cast<void>(at.peers.expect(one.node));
  });
}

}  // namespace ham::detail
