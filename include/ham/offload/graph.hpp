// Recorded graphs: calls that depend on each other are recorded once, and replayed with one message. Results go from
// target to target without the node that has recorded them.
//
//   offload::graph g;
//   auto dt   = g.input<double>();
//   auto a    = g.call(1, fn<&assemble>, dt);
//   auto b    = g.call(2, fn<&solve>, a, rhs);       // rhs: a value, such as a buffer_ptr
//   auto p    = g.put(host_data, target_buffer);     // moving data is a stage, too
//   auto c    = g.call(1, fn<&update>, b).after(p);
//   auto step = g.compile(c);
//   double r  = step(0.1).get();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "ham/msg/bound.hpp"
#include "ham/offload/compiled_graph.hpp"
#include "ham/offload/graph_value.hpp"
#include "ham/offload/span.hpp"

namespace ham::inline v1::offload {

struct graph_options {
  /// Replays of one compiled graph that may be in flight, at least 1: each node has memory for as many.
  std::size_t in_flight = 8;
};

/// Records stages and what they depend on. One thread at a time; needs no runtime until compile(). A recording can be
/// compiled any number of times, and recorded on.
class graph {
 public:
  /// An empty recording.
  graph() : recording_(detail::make_graph_recording()) {}
  graph(graph&&) noexcept = default;
  graph& operator=(graph&&) noexcept = default;
  ~graph() = default;

  /// A value that each replay is given, of any type that crosses.
  template <class Value>
  [[nodiscard]] graph_value<Value> input() {
    static_assert(msg::require_argument<Value>());
    static_assert(!msg::detail::is_view_v<Value>, "ham: an input of a graph owns what it holds; make it a container");
    return {*recording_, detail::record_input(*recording_, typeid(Value))};
  }

  /// A call on `node`: as offload::async, but that arguments may be inputs and results of earlier stages. Those have
  /// the parameter's type, or are a std::vector or std::string for a view of one; other arguments are encoded now, and
  /// are the same in every replay. The call runs under the policy of its callable, when all that it needs is there. If
  /// an argument is memory (a buffer_ptr, a buffer_span, a range of them) of a process that dies and is started again,
  /// replays throw ham::buffer_error: make it an input.
  template <class Callable, class... Args>
  auto call(node_number node, const Callable& callable, Args&&... args)
      -> graph_value<typename detail::graph_plan_of<Callable, Args...>::result_type> {
    using plan = detail::graph_plan_of<Callable, Args...>;
    std::vector<detail::graph_argument> arguments;
    if constexpr (!plan::valid) {
      [[maybe_unused]] typename plan::report error;
      return {*recording_, detail::no_stage};
    } else {
      if constexpr (msg::is_bound_v<std::decay_t<Callable>>) {
        plan::with(
            [&](const auto& core, const auto&... values) {
              add_callable(arguments, core);
              (arguments.push_back(detail::encoded_argument(values)), ...);
            },
            callable);
      } else {
        using parameters =
            typename detail::graph_parameters<std::decay_t<Callable>, detail::graph_type_t<Args>...>::type;
        add_callable(arguments, msg::core_of(callable));
        add_arguments(static_cast<parameters*>(nullptr), arguments, static_cast<Args&&>(args)...);
      }
      return {*recording_, detail::record_call(*recording_, node, plan::call::message::entry(), std::move(arguments))};
    }
  }

  /// offload::put of this node: all elements of `source`, as they are when the stage begins. They and the target's
  /// memory must stay until the compiled graph has gone: also a replay that has failed may have begun it.
  template <class Range, class Memory>
  requires detail::fills<Range, Memory> graph_value<void> put(Range&& source, const Memory& target) {
    static_assert(detail::outlives_statement<Range>,
                  "ham: this range is a temporary, which has gone when the graph is "
                  "replayed. Give it a name");
    const std::size_t count = std::size(source);
    return put(std::data(source), detail::place_in(target, count, "put"), count);
  }
  template <class Element>
  graph_value<void> put(const std::type_identity_t<Element>* source, buffer_ptr<Element> target, std::size_t count) {
    return transfer("put", [source, target, count] { return offload::put(source, target, count); });
  }

  /// offload::get of this node, into memory that must stay until the compiled graph has gone: also when a replay has
  /// failed, what it has begun may go on writing there.
  template <class Range, class Memory>
  requires detail::filled_from<Range, Memory> graph_value<void> get(const Memory& source, Range&& target) {
    static_assert(detail::outlives_statement<Range>,
                  "ham: this range is a temporary, which has gone when the graph is "
                  "replayed. Give it a name");
    const std::size_t count = std::size(target);
    return get(detail::place_in(source, count, "get"), std::data(target), count);
  }
  template <class Element>
  graph_value<void> get(buffer_ptr<Element> source, std::type_identity_t<std::remove_const_t<Element>>* target,
                        std::size_t count) {
    return transfer("get", [source, target, count] { return offload::get(source, target, count); });
  }

  /// offload::copy, made by the node of `target`: the bytes do not touch this node.
  template <class Element>
  graph_value<void> copy(buffer_ptr<Element> source, buffer_ptr<Element> target, std::size_t count) {
    return call(target.node(), fn<&detail::copy_in_graph<Element>>, source, target, static_cast<std::uint64_t>(count))
        .name("copy");
  }

  /// Stages that are repeated, without this node, until a condition holds. `body(value)` records them once, and gives
  /// the value of an iteration; its argument stands for the value of the iteration before, `initial` in the first one.
  /// `until(value)` records a stage that gives a bool; or is a callable bool(Value) that crosses, and runs where the
  /// value was made. The iteration in which it gives true is the last one, and repeat() gives its value.
  /// Stages of the body may use values from outside; of the body, nothing but that value can be used outside. No repeat
  /// within another one.
  template <class Initial, class Body, class Until>
  auto repeat(const Initial& initial, Body&& body, Until&& until) {
    using value = detail::graph_type_t<Initial>;
    static_assert(std::is_same_v<std::invoke_result_t<Body&, graph_value<value>>, graph_value<value>>,
                  "ham: the body of a repeat gives a graph_value of the type that it is given");
    detail::graph_argument first = argument_of<value>(initial);
    detail::open_repeat loop(*recording_, &first);
    const graph_value<value> next = body(graph_value<value>(*recording_, loop.entry()));
    return end(loop, next, until);
  }
  /// The same without a value that goes from iteration to iteration.
  template <class Body, class Until>
  auto repeat(Body&& body, Until&& until) {
    static_assert(detail::is_graph_value<std::invoke_result_t<Body&>>,
                  "ham: the body of a repeat gives a graph_value: of the stage that the condition is about");
    detail::open_repeat loop(*recording_, nullptr);
    const auto next = body();
    return end(loop, next, until);
  }

  /// Checks the graph - nodes, cycles, values - and installs on each node its part of it. Blocks. Replays give `result`
  /// when all stages have ended. Their inputs are checked when they are given: in order and type they are those of
  /// input<>(). Throws ham::config_error for a graph that cannot be, ham::call_error for a function that a node lacks,
  /// ham::node_failure.
  template <class Result>
  [[nodiscard]] compiled_graph<Result> compile(const graph_value<Result>& result, graph_options options = {}) {
    return compile_as<Result>(result, options);
  }
  /// The same with inputs that are checked, and converted, by the compiler: all that the graph has, in the order in
  /// which replays are given them.
  template <class Result, class First, class... Inputs>
  [[nodiscard]] compiled_graph<Result, First, Inputs...> compile(const graph_value<Result>& result,
                                                                 graph_options options, const graph_value<First>& first,
                                                                 const graph_value<Inputs>&... inputs) {
    return compile_as<Result, First, Inputs...>(result, options, first, inputs...);
  }
  template <class Result, class First, class... Inputs>
  [[nodiscard]] compiled_graph<Result, First, Inputs...> compile(const graph_value<Result>& result,
                                                                 const graph_value<First>& first,
                                                                 const graph_value<Inputs>&... inputs) {
    return compile_as<Result, First, Inputs...>(result, {}, first, inputs...);
  }

 private:
  template <class Core>
  static void add_callable(std::vector<detail::graph_argument>& to, const Core& core) {
    if constexpr (!msg::is_fn_v<Core>) to.push_back(detail::encoded_argument(core));
  }
  template <class... Params, class... Args>
  void add_arguments(std::tuple<Params...>*, std::vector<detail::graph_argument>& to, Args&&... args) {
    (to.push_back(argument_of<Params>(static_cast<Args&&>(args))), ...);
  }
  template <class Param, class Arg>
  detail::graph_argument argument_of(Arg&& arg) {
    if constexpr (detail::is_graph_value<Arg>) {
      using value = detail::graph_type_t<Arg>;
      static_assert(detail::encoded_alike<value, Param>,
                    "ham: the result of the earlier stage, or the input, has another type than this parameter: between "
                    "nodes nothing is converted. Give the function, or the input, the same type");
      detail::expect_same_graph(recording_.get(), arg.of_);
      return {arg.stage_, {}};
    } else {
      return detail::encoded_argument<Param>(detail::as_parameter<Param>(static_cast<Arg&&>(arg)));
    }
  }
  template <class Start>
  graph_value<void> transfer(const char* verb, Start start) {
    return {*recording_, detail::record_transfer(*recording_, verb, [start] {
              future<void> started = start();
              return detail::future_access::release(started);
            })};
  }
  template <class Value, class Until>
  graph_value<Value> end(detail::open_repeat& loop, const graph_value<Value>& value, Until& until) {
    const graph_value<bool> decided = condition(value, until);
    detail::expect_same_graph(recording_.get(), value.of_);
    return {*recording_, loop.end(value.stage_, decided.stage_)};
  }
  template <class Value, class Until>
  graph_value<bool> condition(const graph_value<Value>& value, Until& until) {
    if constexpr (std::is_invocable_v<Until&, graph_value<Value>>) {
      return until(value);
    } else if constexpr (std::is_void_v<Value>) {
      if constexpr (detail::is_graph_value<std::invoke_result_t<Until&>>)
        return until();
      else
        return call(detail::node_of_stage(*recording_, value.stage_), until).after(value);
    } else {
      return call(detail::node_of_stage(*recording_, value.stage_), until, value);
    }
  }
  template <class Result, class... Inputs>
  compiled_graph<Result, Inputs...> compile_as(const graph_value<Result>& result, graph_options options,
                                               const graph_value<Inputs>&... inputs) {
    detail::expect_same_graph(recording_.get(), result.of_);
    (detail::expect_same_graph(recording_.get(), inputs.of_), ...);
    const std::uint32_t order[] = {inputs.stage_..., 0};
    return compiled_graph<Result, Inputs...>(detail::compile_graph(
        *recording_, result.stage_,
        {&detail::slot_value<Result>::decode, options.in_flight, std::span(order, sizeof...(Inputs))}));
  }

  std::shared_ptr<detail::graph_recording> recording_;
};

}  // namespace ham::offload
