// Recording of graphs, and the checks before one is compiled.
#include "runtime/graph_recording.hpp"

#include <algorithm>
#include <utility>

#include "ham/msg/handler_table.hpp"
#include "ham/msg/names.hpp"

namespace ham::inline v1::offload::detail {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw config_error("a graph cannot be compiled " + why); }

std::string describe_stage(const graph_recording& graph, std::uint32_t stage) {
  return name_of_stage(stage, graph.stages[stage].name);
}

bool uses(const std::vector<std::uint32_t>& needs, std::uint32_t stage) {
  return std::find(needs.begin(), needs.end(), stage) != needs.end();
}

void add_once(std::vector<std::uint32_t>& to, std::uint32_t stage) {
  if (!uses(to, stage)) to.push_back(stage);
}

std::vector<std::uint32_t> needs_of(const recorded_stage& stage) {
  std::vector<std::uint32_t> needs;
  for (const graph_argument& one : stage.arguments) {
    if (one.value != no_stage) add_once(needs, one.value);
  }
  for (const std::uint32_t one : stage.after) add_once(needs, one);
  return needs;
}

void check_inputs_named(const graph_recording& graph, const std::vector<std::uint32_t>& inputs) {
  for (const std::uint32_t one : inputs) {
    if (std::count(inputs.begin(), inputs.end(), one) != 1)
      refuse("with " + describe_stage(graph, one) + " twice among its inputs; name each of them once");
    if (!uses(graph.inputs, one))
      refuse("with " + describe_stage(graph, one) + " as an input, which it is not; name what input<>() has given");
  }
  if (inputs.size() != graph.inputs.size())
    refuse("with " + std::to_string(inputs.size()) + " of its " + std::to_string(graph.inputs.size()) +
           " inputs; name all of them, or none");
}

void check_loops(const graph_recording& graph, const finished_recording& made) {
  for (std::uint32_t stage = 0; stage < made.stages.size(); ++stage) {
    for (const std::uint32_t before : made.needs[stage]) {
      const std::uint32_t from = loop_of_result(made.stages[before]);
      if (from == 0 || from == loop_of_begin(made.stages[stage])) continue;
      refuse(
          "in which " + name_of_stage(stage, made.stages[stage].name) + " comes after " +
          describe_stage(graph, before) +
          ", which is repeated and is not (outside of a repeat there is only its last value); use what repeat() gives");
    }
  }
}

/// Iterations go back from a decision to its entry, which is no cycle: that is not among the needs.
void check_cycles(const finished_recording& made) {
  const std::size_t count = made.stages.size();
  std::vector<std::size_t> open(count);
  std::vector<std::uint32_t> ready;
  std::size_t done = 0;
  for (std::uint32_t stage = 0; stage < count; ++stage) {
    open[stage] = made.needs[stage].size();
    if (open[stage] == 0) ready.push_back(stage);
  }
  while (!ready.empty()) {
    const std::uint32_t stage = ready.back();
    ready.pop_back();
    ++done;
    for (std::uint32_t next = 0; next < count; ++next) {
      if (uses(made.needs[next], stage) && --open[next] == 0) ready.push_back(next);
    }
  }
  if (done == count) return;
  // Each of those that are left waits for another one of them: going back leads into a cycle.
  const auto is_left = [&open](std::uint32_t stage) { return open[stage] != 0; };
  std::vector<std::uint32_t> path;
  std::uint32_t at = 0;
  while (!is_left(at)) ++at;
  while (!uses(path, at)) {
    path.push_back(at);
    at = *std::find_if(made.needs[at].begin(), made.needs[at].end(), is_left);
  }
  std::string text = name_of_stage(at, made.stages[at].name);
  for (auto one = std::find(path.begin(), path.end(), at) + 1; one != path.end(); ++one)
    text += ", after " + name_of_stage(*one, made.stages[*one].name);
  refuse("because of a cycle: " + text + ", after " + name_of_stage(at, made.stages[at].name) +
         "; leave out an after()");
}

/// Begins what nothing begins in its iteration, and has decisions wait for what nobody waits for. Of what is in no
/// repeat, the stages that nobody waits for.
std::vector<std::uint32_t> end_all(finished_recording& of) {
  std::vector<bool> is_used(of.stages.size());
  for (const std::vector<std::uint32_t>& needs : of.needs) {
    for (const std::uint32_t before : needs) is_used[before] = true;
  }
  const auto entry_of = [&of](std::uint32_t loop) {
    std::uint32_t at = 0;
    while (of.stages[at].kind != stage_kind::entry || of.stages[at].loop != loop) ++at;
    return at;
  };
  std::vector<std::uint32_t> last;
  for (std::uint32_t stage = 0; stage < of.stages.size(); ++stage) {
    const recorded_stage& one = of.stages[stage];
    const std::uint32_t ends = loop_of_result(one);
    if (one.kind != stage_kind::input && !is_used[stage])
      add_once(ends == 0 ? last : of.needs[of.stages[entry_of(ends)].entry], stage);
    const std::uint32_t begins = loop_of_begin(one);
    const bool begun = begins == 0 || std::any_of(of.needs[stage].begin(), of.needs[stage].end(), [&](auto before) {
                         return loop_of_result(of.stages[before]) == begins;
                       });
    if (!begun) of.needs[stage].push_back(entry_of(begins));
  }
  return last;
}

}  // namespace

std::string name_of_stage(std::size_t number, const std::string& name) {
  return "stage " + std::to_string(number) + " (" + name + ")";
}

std::uint32_t graph_recording::add(recorded_stage stage) {
  stage.loop = open_loop;
  stages.push_back(std::move(stage));
  return static_cast<std::uint32_t>(stages.size() - 1);
}

std::shared_ptr<graph_recording> make_graph_recording() { return std::make_shared<graph_recording>(); }

std::uint32_t record_input(graph_recording& graph, const std::type_info& type) {
  const std::uint32_t loop = std::exchange(graph.open_loop, 0);  // of the replay, not of an iteration
  const std::uint32_t made = graph.add({.kind = stage_kind::input, .name = "input", .type = &type});
  graph.open_loop = loop;
  graph.inputs.push_back(made);
  return made;
}

std::uint32_t record_call(graph_recording& graph, node_t node, msg::handler_entry& function,
                          std::vector<graph_argument> arguments) {
  if (node < 0) throw config_error("a stage of a graph has node " + std::to_string(node) + "; name a node of the job");
  const std::uint32_t key = function.resolve();
  return graph.add({.kind = stage_kind::call,
                    .node = node,
                    .function = key,
                    .name = msg::handler_table::local().pretty_name(key),
                    .arguments = std::move(arguments)});
}

std::uint32_t record_transfer(graph_recording& graph, const char* verb, graph_transfer transfer) {
  return graph.add({.kind = stage_kind::transfer, .name = verb, .transfer = std::move(transfer)});
}

std::uint32_t begin_repeat(graph_recording& graph, graph_argument* initial) {
  if (graph.open_loop != 0)
    throw config_error(
        "a repeat of a graph within another one (that is not supported); make one function of the inner "
        "one, or call it from the body");
  graph.open_loop = ++graph.loops;
  recorded_stage entry{.kind = stage_kind::entry, .name = "repeat"};
  if (initial != nullptr) entry.arguments.push_back(std::move(*initial));
  return graph.add(std::move(entry));
}

std::uint32_t end_repeat(graph_recording& graph, std::uint32_t entry, std::uint32_t value, std::uint32_t until) {
  recorded_stage decision{.kind = stage_kind::decision, .name = "until", .entry = entry};
  decision.node = node_of_stage(graph, until);
  decision.arguments = {{value, {}}, {until, {}}};
  const std::uint32_t made = graph.add(std::move(decision));
  graph.stages[entry].node = graph.stages[made].node;
  graph.stages[entry].entry = made;
  graph.open_loop = 0;
  return made;
}

/// Nothing is left of it.
void leave_repeat(graph_recording& graph, std::uint32_t entry) noexcept {
  const auto is_of_it = [entry](std::uint32_t stage) { return stage >= entry; };
  graph.open_loop = 0;
  graph.stages.erase(graph.stages.begin() + entry, graph.stages.end());
  std::erase_if(graph.inputs, is_of_it);
  for (recorded_stage& one : graph.stages) std::erase_if(one.after, is_of_it);
}

node_t node_of_stage(const graph_recording& graph, std::uint32_t stage) {
  const recorded_stage& one = graph.stages[stage];
  if (one.kind == stage_kind::input || (one.kind == stage_kind::entry && one.node < 0))
    throw config_error("the condition of a repeat is about " + name_of_stage(stage, one.name) +
                       ", which no stage of the body has made; let a stage give the value, or record the condition");
  return one.node;
}

void record_order(graph_recording& graph, std::uint32_t stage, std::uint32_t before) {
  if (graph.stages[stage].kind == stage_kind::input)
    throw config_error("an input of a graph comes after nothing (it is there when a replay begins)");
  if (graph.stages[stage].kind == stage_kind::decision) {  // stands for its repeat, which begins with the entry
    if (loop_of_result(graph.stages[before]) == graph.stages[stage].loop)
      throw config_error("a repeat of a graph comes after " + describe_stage(graph, before) +
                         ", which is repeated in it; order stages of the body there");
    stage = graph.stages[stage].entry;
  }
  add_once(graph.stages[stage].after, before);
}

void record_name(graph_recording& graph, std::uint32_t stage, std::string name) {
  graph.stages[stage].name = std::move(name);
}

void expect_same_graph(const graph_recording* mine, const graph_recording* other) {
  if (mine != other)
    throw config_error("a stage uses a value of another graph (values belong to the one that made them)");
}

finished_recording finish_recording(const graph_recording& graph, std::uint32_t result,
                                    std::span<const std::uint32_t> inputs) {
  finished_recording made;
  made.inputs.assign(inputs.begin(), inputs.end());
  if (made.inputs.empty()) made.inputs = graph.inputs;
  check_inputs_named(graph, made.inputs);
  made.stages = graph.stages;
  for (const recorded_stage& one : made.stages) made.needs.push_back(needs_of(one));
  std::vector<std::uint32_t> last = end_all(made);
  add_once(last, result);
  made.stages.push_back({.kind = stage_kind::finish, .name = "result", .arguments = {{result, {}}}});
  made.needs.push_back(std::move(last));
  check_loops(graph, made);
  check_cycles(made);
  return made;
}

}  // namespace ham::offload::detail
