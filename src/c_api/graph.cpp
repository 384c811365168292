// Recording of graphs for programs in C, and what runs their calls by name on nodes.
#include "c_api/graph.hpp"

#include <utility>

#include "c_api/functions.hpp"
#include "c_api/future.hpp"
#include "c_api/memory.hpp"
#include "c_api/status.hpp"
#include "ham/msg/codec.hpp"
#include "ham/offload/graph.hpp"

namespace ham::inline v1::c_api {

/// What every program has of stages that call by name: name, zero and layout, then the arguments as the function's own.
/// These are results of earlier stages, inputs and constants, as they are; so is the result. Not in the namespace
/// below: its name is that of the handler.
struct stage_by_name {
  using tag = stage_by_name;
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static constexpr std::size_t message_size() noexcept { return 0; }
  static std::string layout() { return "empty,str->void"; }  // of the rest the text within it tells

  static void handler(void* buffer) {
    auto& call = *static_cast<detail::incoming_call*>(buffer);
    msg::reader from(call.payload);
    const std::string_view key = msg::decode<std::string_view>(from);
    const std::size_t zero = key.find('\0');
    if (zero == std::string_view::npos) throw protocol_error("a stage that calls by name has no layout");
    run_encoded(call, key.substr(0, zero), key.substr(zero + 1), call.payload.last(from.remaining()));
  }
};

call_types::call_types(std::string_view layout) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < layout.size(); ++at) {
    const bool arrow = depth == 0 && layout.substr(at, 2) == "->";
    if (arrow ? at != 0 : (depth == 0 && layout[at] == ',')) parameters.push_back(layout.substr(begin, at - begin));
    if (arrow) {
      result = layout.substr(at + 2);
      return;
    }
    if (depth == 0 && layout[at] == ',') begin = at + 1;
    depth += layout[at] == '<' ? 1 : layout[at] == '>' ? -1 : 0;
  }
  throw bad_argument{"\"" + std::string(layout) + "\" is no layout, such as \"f8,vec<f8>->f8\""};
}

std::span<const std::byte> bytes_of(const ham_argument& argument) {
  if (argument.size != 0) require(argument.bytes, "an argument");
  return {static_cast<const std::byte*>(argument.bytes), argument.size};
}

}  // namespace ham::c_api

using ham::c_api::bad_argument;
using ham::c_api::bytes_of;
using ham::c_api::guarded;
using ham::c_api::require;
namespace of_graph = ham::offload::detail;

void ham_graph::require_stage(ham_stage stage) const {
  if (stage >= stages_.size())
    throw bad_argument{"stage " + std::to_string(stage) + " is none of this graph, which has " +
                       std::to_string(stages_.size())};
}

void ham_graph::require_complete() const {
  if (entry_ != HAM_NO_STAGE) throw bad_argument{describe(entry_) + " has no end; call ham_graph_end_repeat first"};
}

std::string ham_graph::describe(ham_stage stage) const {
  return "stage " + std::to_string(stage) + " (" + stages_[stage].name + ")";
}

ham_stage ham_graph::add(std::uint32_t number, std::string_view type, std::string_view name) {
  stages_.push_back({std::string(type), std::string(name)});
  return number;
}

/// `what`: who takes it, for the text.
of_graph::graph_argument ham_graph::argument(const ham_argument& from, std::string_view type,
                                             const std::string& what) const {
  if (from.stage == HAM_NO_STAGE) {
    const std::span<const std::byte> bytes = bytes_of(from);
    return {of_graph::no_stage, {bytes.begin(), bytes.end()}};
  }
  require_stage(from.stage);
  const std::string& given = stages_[from.stage].type;
  if (given != type)
    throw bad_argument{what + " is " + describe(from.stage) + ", which gives " + given + ", and must be " +
                       std::string(type) + " (between stages nothing is converted)"};
  return {from.stage, {}};
}

ham_stage ham_graph::input(std::string_view type) {
  return add(of_graph::record_input(*recording_, typeid(ham::c_api::bytes)), type, "input");
}

ham_stage ham_graph::call(ham_node node, std::string_view name, std::string_view layout,
                          std::span<const ham_argument> arguments) {
  const ham::c_api::call_types types(layout);
  const std::string who = "stage " + std::to_string(stages_.size()) + " (" + std::string(name) + ")";
  if (arguments.size() != types.parameters.size())
    throw bad_argument{who + " has " + std::to_string(arguments.size()) + " arguments, and the function takes " +
                       std::to_string(types.parameters.size()) + ": " + std::string(layout)};
  std::string key(name);
  key += '\0';
  key += layout;
  std::vector<of_graph::graph_argument> sources{of_graph::encoded_argument(key)};
  for (std::size_t i = 0; i < arguments.size(); ++i)
    sources.push_back(argument(arguments[i], types.parameters[i], who + ": argument " + std::to_string(i + 1)));
  const std::uint32_t made = of_graph::record_call(
      *recording_, node, ham::msg::handler_registrar<ham::c_api::stage_by_name>::entry(), std::move(sources));
  of_graph::record_name(*recording_, made, std::string(name));
  calls_.push_back({made, node, std::string(name), std::string(layout)});
  return add(made, types.result, name);
}

ham_stage ham_graph::transfer(const char* verb, of_graph::graph_transfer how) {
  return add(of_graph::record_transfer(*recording_, verb, std::move(how)), "void", verb);
}

/// As offload::graph::copy.
ham_stage ham_graph::copy(const ham_buffer* from, std::size_t from_offset, const ham_buffer* to, std::size_t to_offset,
                          std::size_t size) {
  const auto source = ham::c_api::part(from, from_offset, size);
  const auto target = ham::c_api::part(to, to_offset, size);
  using copying =
      ham::detail::call_of<std::decay_t<decltype(ham::fn<&of_graph::copy_in_graph<std::byte>>)>,
                           ham::offload::buffer_ptr<std::byte>, ham::offload::buffer_ptr<std::byte>, std::uint64_t>;
  const std::uint32_t made =
      of_graph::record_call(*recording_, to->node, copying::message::entry(),
                            {of_graph::encoded_argument(source), of_graph::encoded_argument(target),
                             of_graph::encoded_argument(static_cast<std::uint64_t>(size))});
  of_graph::record_name(*recording_, made, "copy");
  return add(made, "void", "copy");
}

ham_stage ham_graph::begin_repeat(std::string_view type, const ham_argument* initial) {
  of_graph::graph_argument first;
  if (initial != nullptr) first = argument(*initial, type, "the first value of a repeat");
  entry_ = of_graph::begin_repeat(*recording_, initial == nullptr ? nullptr : &first);
  return add(entry_, initial == nullptr ? "void" : type, "repeat");
}

ham_stage ham_graph::end_repeat(ham_stage next, ham_stage until) {
  if (entry_ == HAM_NO_STAGE) throw bad_argument{"no repeat is being recorded"};
  require_stage(next);
  const std::string& carried = stages_[entry_].type;
  if (carried != "void") static_cast<void>(argument({next, nullptr, 0}, carried, "the value of a repeat"));
  require_stage(until);
  static_cast<void>(argument({until, nullptr, 0}, "bool", "the condition of a repeat"));
  const std::uint32_t made = of_graph::end_repeat(*recording_, entry_, next, until);
  entry_ = HAM_NO_STAGE;
  return add(made, stages_[next].type, "until");
}

void ham_graph::order(ham_stage stage, ham_stage before) {
  require_stage(stage);
  require_stage(before);
  of_graph::record_order(*recording_, stage, before);
}

void ham_graph::rename(ham_stage stage, std::string name) {
  require_stage(stage);
  stages_[stage].name = name;
  of_graph::record_name(*recording_, stage, std::move(name));
}

namespace {

/// Records what `record` does, which is a ham_stage.
template <class Record>
int record_stage(ham_graph* graph, ham_stage* stage, Record record) {
  return guarded([&] {
    require(graph, "the graph");
    require(stage, "the place of the stage");
    *stage = HAM_NO_STAGE;
    *stage = record();
    return HAM_OK;
  });
}

}  // namespace

int ham_graph_create(ham_graph** graph) {
  return guarded([&] {
    require(graph, "the place of the graph");
    *graph = nullptr;
    *graph = new ham_graph;
    return HAM_OK;
  });
}

void ham_graph_release(ham_graph** graph) {
  if (graph != nullptr) delete std::exchange(*graph, nullptr);
}

int ham_graph_input(ham_graph* graph, const char* type, ham_stage* input) {
  return record_stage(graph, input, [&] {
    require(type, "the type");
    return graph->input(type);
  });
}

int ham_graph_call(ham_graph* graph, ham_node node, const char* name, const char* layout, const ham_argument* arguments,
                   size_t count, ham_stage* stage) {
  return record_stage(graph, stage, [&] {
    require(name, "the name");
    require(layout, "the layout");
    if (count != 0) require(arguments, "the list of arguments");
    return graph->call(node, name, layout, {arguments, count});
  });
}

int ham_graph_put(ham_graph* graph, const void* from, const ham_buffer* to, size_t offset, size_t size,
                  ham_stage* stage) {
  return record_stage(graph, stage, [&] {
    const auto target = ham::c_api::part(to, offset, size);
    if (size != 0) require(from, "the source");
    return graph->transfer("put", [from = static_cast<const std::byte*>(from), target, size] {
      auto started = ham::offload::put(from, target, size);
      return of_graph::future_access::release(started);
    });
  });
}

int ham_graph_get(ham_graph* graph, const ham_buffer* from, size_t offset, void* to, size_t size, ham_stage* stage) {
  return record_stage(graph, stage, [&] {
    const auto source = ham::c_api::part(from, offset, size);
    if (size != 0) require(to, "the target");
    return graph->transfer("get", [source, to = static_cast<std::byte*>(to), size] {
      auto started = ham::offload::get(source, to, size);
      return of_graph::future_access::release(started);
    });
  });
}

int ham_graph_copy(ham_graph* graph, const ham_buffer* from, size_t from_offset, const ham_buffer* to, size_t to_offset,
                   size_t size, ham_stage* stage) {
  return record_stage(graph, stage, [&] { return graph->copy(from, from_offset, to, to_offset, size); });
}

int ham_graph_after(ham_graph* graph, ham_stage stage, ham_stage before) {
  return guarded([&] {
    require(graph, "the graph");
    graph->order(stage, before);
    return HAM_OK;
  });
}

int ham_graph_name(ham_graph* graph, ham_stage stage, const char* name) {
  return guarded([&] {
    require(graph, "the graph");
    require(name, "the name");
    graph->rename(stage, name);
    return HAM_OK;
  });
}

int ham_graph_begin_repeat(ham_graph* graph, const char* type, const ham_argument* initial, ham_stage* value) {
  return record_stage(graph, value, [&] {
    if (initial != nullptr) require(type, "the type");
    return graph->begin_repeat(type == nullptr ? "void" : type, initial);
  });
}

int ham_graph_end_repeat(ham_graph* graph, ham_stage next, ham_stage until, ham_stage* result) {
  return record_stage(graph, result, [&] { return graph->end_repeat(next, until); });
}
