// Which node is told what of a graph.
#include "runtime/graph_plan.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "ham/error.hpp"

namespace ham::inline v1::offload::detail {
namespace {

/// The stages of a graph, put into parts.
class division {
 public:
  division(const finished_recording& graph, node_t self, std::uint32_t frames) : graph_(graph) {
    plan_.nodes.push_back(self);
    plan_.parts.emplace_back();
    place_stages();
    for (std::uint32_t stage = 0; stage < graph_.stages.size(); ++stage) connect(stage);
    for (std::uint32_t stage = 0; stage < graph_.stages.size(); ++stage) fill(stage);
    for (std::uint32_t part = 0; part < plan_.parts.size(); ++part) {
      part_plan& one = plan_.parts[part];
      one.frames = frames;
      one.own = part;
      one.inputs = static_cast<std::uint32_t>(plan_.inputs[part].size());
      one.parts.resize(plan_.parts.size());
      std::sort(one.neighbours.begin(), one.neighbours.end());
      one.neighbours.erase(std::unique(one.neighbours.begin(), one.neighbours.end()), one.neighbours.end());
    }
    for (const std::uint32_t input : graph_.inputs) plan_.types.push_back(graph_.stages[input].type);
    mark_result();
  }

  [[nodiscard]] graph_plan take() && { return std::move(plan_); }

 private:
  struct place {
    std::uint32_t part = 0;
    std::uint32_t stage = 0;
  };

  [[nodiscard]] bool is_input(std::uint32_t stage) const { return graph_.stages[stage].kind == stage_kind::input; }
  [[nodiscard]] part_stage& planned(std::uint32_t stage) {
    return plan_.parts[places_[stage].part].stages[places_[stage].stage];
  }

  void place_stages() {
    for (const recorded_stage& one : graph_.stages) {
      place where;
      if (one.kind != stage_kind::input) {
        const node_t node = one.node < 0 ? plan_.nodes.front() : one.node;
        const auto found = std::find(plan_.nodes.begin(), plan_.nodes.end(), node);
        where.part = static_cast<std::uint32_t>(found - plan_.nodes.begin());
        if (found == plan_.nodes.end()) {
          plan_.nodes.push_back(node);
          plan_.parts.emplace_back();
        }
        part_plan& part = plan_.parts[where.part];
        where.stage = static_cast<std::uint32_t>(part.stages.size());
        part.stages.emplace_back();
        plan_.functions.resize(plan_.parts.size());
        plan_.functions[where.part].push_back(one.function);
      }
      places_.push_back(where);
    }
    plan_.inputs.resize(plan_.parts.size());
    plan_.functions.resize(plan_.parts.size());
    ports_.resize(graph_.stages.size());
  }

  /// What a stage waits for.
  void connect(std::uint32_t stage) {
    if (is_input(stage)) return;
    const place to = places_[stage];
    const std::uint32_t loop = loop_of_begin(graph_.stages[stage]);
    part_plan& part = plan_.parts[to.part];
    bool by_start = graph_.needs[stage].empty();
    for (const std::uint32_t before : graph_.needs[stage]) {
      if (is_input(before)) {
        by_start = true;
        input_of(to.part, before);
        continue;
      }
      ++part.stages[to.stage].needs;
      if (loop != 0 && loop_of_result(graph_.stages[before]) == loop) ++part.stages[to.stage].needs_again;
      if (places_[before].part == to.part)
        planned(before).next.push_back(to.stage);
      else
        part.ports[port_of(before, to.part)].push_back(to.stage);
    }
    if (!by_start) return;
    ++part.stages[to.stage].needs;
    part.starting.push_back(to.stage);
  }

  std::uint32_t port_of(std::uint32_t stage, std::uint32_t part) {
    const auto known = ports_[stage].find(part);
    if (known != ports_[stage].end()) return known->second;
    const auto port = static_cast<std::uint32_t>(plan_.parts[part].ports.size());
    plan_.parts[part].ports.emplace_back();
    planned(stage).targets.push_back({part, port, false});
    plan_.parts[part].neighbours.push_back(places_[stage].part);
    plan_.parts[places_[stage].part].neighbours.push_back(part);
    return ports_[stage][part] = port;
  }

  /// Its place among those that the part is given.
  std::uint32_t input_of(std::uint32_t part, std::uint32_t stage) {
    const auto place_in_replay = static_cast<std::uint32_t>(
        std::find(graph_.inputs.begin(), graph_.inputs.end(), stage) - graph_.inputs.begin());
    std::vector<std::uint32_t>& given = plan_.inputs[part];
    const auto found = std::find(given.begin(), given.end(), place_in_replay);
    const auto at = static_cast<std::uint32_t>(found - given.begin());
    if (found == given.end()) given.push_back(place_in_replay);
    return at;
  }

  /// The number of a value within a part, once all ports are known.
  std::uint32_t value_in(std::uint32_t part, std::uint32_t stage) {
    const part_plan& where = plan_.parts[part];
    const auto stages = static_cast<std::uint32_t>(where.stages.size());
    if (is_input(stage)) return stages + static_cast<std::uint32_t>(where.ports.size()) + input_of(part, stage);
    if (places_[stage].part == part) return places_[stage].stage;
    const std::uint32_t port = port_of(stage, part);
    for (part_target& one : planned(stage).targets) {
      if (one.part == part) one.with_value = true;
    }
    return stages + port;
  }

  void fill(std::uint32_t stage) {
    if (is_input(stage)) return;
    const recorded_stage& from = graph_.stages[stage];
    part_stage& to = planned(stage);
    to.kind = static_cast<std::uint8_t>(from.kind);
    to.number = stage;
    to.name = from.name;
    for (const graph_argument& one : from.arguments) {
      for (const node_t process : one.handles) {
        if (std::find(plan_.handles.begin(), plan_.handles.end(), process) == plan_.handles.end())
          plan_.handles.push_back(process);
      }
      if (one.value == no_stage)
        to.sources.push_back({no_stage, one.bytes});
      else
        to.sources.push_back({value_in(places_[stage].part, one.value), {}});
    }
    if (from.kind == stage_kind::decision) to.entry = places_[from.entry].stage;
    if (from.kind != stage_kind::transfer) return;
    to.key = static_cast<std::uint32_t>(plan_.transfers.size());
    plan_.transfers.push_back(from.transfer);
  }

  /// Where the first part does nothing but take the result of another one, no frame has to take it.
  void mark_result() {
    const part_plan& first = plan_.parts.front();
    if (first.stages.size() != 1 || first.stages.front().needs != 1 || first.ports.size() != 1) return;
    for (std::uint32_t part = 1; part < plan_.parts.size(); ++part) {
      for (part_stage& stage : plan_.parts[part].stages) {
        for (part_target& to : stage.targets) {
          if (to.part != 0) continue;
          to.is_result = true;
          plan_.result_part = part;
        }
      }
    }
  }

  const finished_recording& graph_;
  graph_plan plan_;
  std::vector<place> places_;
  std::vector<std::map<std::uint32_t, std::uint32_t>> ports_;  // of each stage: by part
};

void require(bool holds) {
  if (!holds)
    throw call_error("a part of a graph that cannot be (its numbers lead nowhere); compile it by offload::graph");
}

void require_below(const std::vector<std::uint32_t>& all, std::size_t limit) {
  require(std::all_of(all.begin(), all.end(), [limit](std::uint32_t one) { return one < limit; }));
}

}  // namespace

void check_part(const part_plan& plan) {
  require(plan.frames <= part_plan::max_frames && std::has_single_bit(plan.frames));
  require(plan.own < plan.parts.size() && !plan.stages.empty());
  if (plan.values() > part_plan::max_values / plan.frames)
    throw call_error("a part of a graph has " + std::to_string(plan.values()) + " values in each of " +
                         std::to_string(plan.frames) + " replays (together at most " +
                         std::to_string(part_plan::max_values) + "); allow fewer replays in flight",
                     call_error_reason::too_long);
  require_below(plan.neighbours, plan.parts.size());
  require_below(plan.starting, plan.stages.size());
  for (const std::vector<std::uint32_t>& one : plan.ports) require_below(one, plan.stages.size());
  for (const part_stage& one : plan.stages) {
    const auto kind = static_cast<stage_kind>(one.kind);
    require(kind > stage_kind::input && kind <= stage_kind::finish);
    require(one.number != no_stage);
    require(plan.own == 0 || (kind != stage_kind::transfer && kind != stage_kind::finish));
    require(kind != stage_kind::decision || (one.entry < plan.stages.size() && one.sources.size() == 2));
    require((kind != stage_kind::finish && kind != stage_kind::entry) || one.sources.size() <= 1);
    require_below(one.next, plan.stages.size());
    for (const part_target& to : one.targets) require(to.part < plan.parts.size() && (!to.is_result || to.part == 0));
    for (const graph_argument& source : one.sources) require(source.value == no_stage || source.value < plan.values());
  }
}

graph_plan divide_graph(const finished_recording& graph, node_t self, std::uint32_t frames) {
  return division(graph, self, frames).take();
}

}  // namespace ham::offload::detail
