// What a stage of a recorded graph will give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "ham/offload/detail/graph_calls.hpp"
#include "ham/offload/memory.hpp"
#include "ham/offload/remote.hpp"

namespace ham::inline v1::offload {

class graph;

/// What a stage of a graph will give, or an input: an argument of further stages, and what they come after. A copyable
/// value, which may be used as long as its graph.
template <class Result>
class graph_value {
 public:
  using value_type = Result;  ///< what the stage gives; void for stages that give nothing

  /// The stage begins after these have ended, beside those whose results it uses; a repeat with its first iteration.
  /// Gives the value itself. Throws ham::config_error if they are of another graph, this is an input, or this is a
  /// repeat and they are of its body.
  template <class... Others>
  const graph_value& after(const graph_value<Others>&... others) const {
    (detail::expect_same_graph(of_, others.of_), ...);
    (detail::record_order(*of_, stage_, others.stage_), ...);
    return *this;
  }
  /// What errors call the stage; by default the name of its function.
  const graph_value& name(std::string text) const {
    detail::record_name(*of_, stage_, std::move(text));
    return *this;
  }
  /// Its number in the order of recording, inputs included: that of ham::stage_error.
  [[nodiscard]] std::size_t number() const noexcept { return stage_; }

 private:
  friend class graph;
  template <class Other>
  friend class graph_value;

  graph_value(detail::graph_recording& of, std::uint32_t stage) noexcept : of_(&of), stage_(stage) {}

  detail::graph_recording* of_;
  std::uint32_t stage_;
};

namespace detail {

template <class Arg>
struct graph_type {
  using type = Arg;
  static constexpr bool is_value = false;
};
template <class Result>
struct graph_type<graph_value<Result>> {
  using type = Result;
  static constexpr bool is_value = true;
};
template <class Arg>
inline constexpr bool is_graph_value = graph_type<std::remove_cvref_t<Arg>>::is_value;
/// What a call with this argument is given: the result that it stands for, or itself.
template <class Arg>
using graph_type_t = std::conditional_t<is_graph_value<Arg>, typename graph_type<std::remove_cvref_t<Arg>>::type, Arg>;

template <class Callable, class... Args>
using graph_plan_of = call_plan<std::decay_t<Callable>, graph_type_t<Args>...>;

/// What is encoded for a call with these arguments.
template <class Callable, class... Args>
struct graph_parameters {
  using type = typename signature_of_call<Callable, Args...>::parameters;
};
template <class Pointer, Pointer Method, class Handle, class... Args>
requires(std::is_member_function_pointer_v<Pointer>&& is_object_handle_v<
         std::remove_cvref_t<Handle>>) struct graph_parameters<fn_t<Pointer, Method>, Handle, Args...>
    : graph_parameters<method_on<Method, Handle>,
                       offload::remote_ref<typename std::remove_cvref_t<Handle>::element_type>, Args...> {
};

/// The body of a repeat is being recorded; ends that if it throws.
class open_repeat {
 public:
  open_repeat(graph_recording& of, graph_argument* initial) : of_(&of), entry_(begin_repeat(of, initial)) {}
  open_repeat(const open_repeat&) = delete;
  open_repeat& operator=(const open_repeat&) = delete;
  ~open_repeat() {
    if (of_ != nullptr) leave_repeat(*of_, entry_);
  }
  [[nodiscard]] std::uint32_t entry() const noexcept { return entry_; }
  [[nodiscard]] std::uint32_t end(std::uint32_t value, std::uint32_t until) {
    const std::uint32_t made = end_repeat(*of_, entry_, value, until);
    of_ = nullptr;
    return made;
  }

 private:
  graph_recording* of_;
  std::uint32_t entry_;
};

/// The call behind graph::copy.
template <class Element>
void copy_in_graph(buffer_ptr<Element> from, buffer_ptr<Element> to, std::uint64_t count) {
  offload::copy(from, to, static_cast<std::size_t>(count)).get();
}

}  // namespace detail

}  // namespace ham::offload
