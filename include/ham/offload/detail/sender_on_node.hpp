// How schedule(node) | then(f) becomes a call, and what senders tell of themselves to a sender library. Internal.
#pragma once

#include <type_traits>
#include <utility>

#include "ham/msg/bind.hpp"
#include "ham/msg/bound.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/detail/sender_names.hpp"

namespace ham::inline v1::offload::inline HAM_SENDERS {

template <class Bound>
class call_sender;
template <class Result>
class future_sender;
template <class Function>
class node_sender;
template <class Function>
class then_on_node;

}  // namespace ham::offload

namespace ham::inline v1::offload::detail::inline HAM_SENDERS {

/// What the library asks of senders.
struct sender_access {
  template <class Bound>
  [[nodiscard]] static const destination& where(const call_sender<Bound>& of) noexcept {
    return of.to_;
  }
  template <class Bound>
  [[nodiscard]] static const auto& callable(const call_sender<Bound>& of) noexcept {
    return of.call_.callable();
  }
  /// The runtime that has to make progress for it. Throws ham::config_error if there is none.
  template <class Bound>
  [[nodiscard]] static engine& runtime(const call_sender<Bound>& of) {
    return engine_for(of.to_);
  }
  template <class Function>
  [[nodiscard]] static engine& runtime(const node_sender<Function>& of) {
    return engine_for(where(of));
  }
  template <class Result>
  [[nodiscard]] static engine& runtime(const future_sender<Result>& of) {
    const call_slot* const slot = future_access::slot(of.of_);
    return slot != nullptr && slot->owner != nullptr ? *slot->owner : current();
  }
  template <class Other>
  [[nodiscard]] static engine& runtime(const Other&) {
    return current();
  }
  /// Begins what a sender of HAM would when its operation is started; throws what async throws.
  template <class Bound>
  [[nodiscard]] static future<typename Bound::result_type> begin(const call_sender<Bound>& of) {
    return start_call<Bound>(of.to_, when_full::wait, of.call_);
  }
  template <class Result>
  [[nodiscard]] static future<Result> begin(future_sender<Result>&& of) noexcept {
    return std::move(of.of_);
  }
};

/// What connect() of schedule() gives, which does not compile.
struct operation_of_schedule {
  using operation_state_concept = execution::operation_state_tag;
  void start() & noexcept {}
};

template <class Bound>
[[nodiscard]] call_sender<Bound> make_call(const destination& to, Bound call) {
  if constexpr (!call_plan<Bound>::valid) [[maybe_unused]]
    typename call_plan<Bound>::report error;
  return call_sender<Bound>(to, std::move(call));
}

/// Calls the second function with what the first has returned.
struct run_in_turn {
  template <class First, class Second>
  constexpr auto operator()(const First& first, const Second& second) const {
    if constexpr (std::is_void_v<std::invoke_result_t<const First&>>) {
      first();
      return second();
    } else {
      return second(first());
    }
  }
};

/// Makes the compiler say why a function of then() cannot go to a node, if it cannot. Whether its result crosses is
/// asked of the last one, by connecting it.
template <class Function>
constexpr void require_crossing() {
  using core = msg::core_type_t<Function>;
  if constexpr (msg::detail::is_mere_address<core>()) {
    [[maybe_unused]] msg::captures_address<core> error;
  } else if constexpr (!msg::is_fn_v<core> && !msg::crosses<core>) {
    [[maybe_unused]] callable_report<core> error;
  }
}

template <class Function>
[[nodiscard]] node_sender<Function> begin_on_node(const destination& to, const Function& function) {
  using signature = msg::detail::signature_core<msg::core_type_t<Function>>;
  require_crossing<Function>();
  if constexpr (!signature::valid) [[maybe_unused]]
    typename signature::report error;
  return node_sender<Function>(to, function);
}

template <class Function>
inline constexpr bool is_bare_callable = std::is_same_v<msg::core_type_t<Function>, Function>;

template <class First, class Next>
struct takes_result : std::is_invocable<const Next&, std::invoke_result_t<const First&>> {};
template <class First, class Next>
requires std::is_void_v<std::invoke_result_t<const First&>>
struct takes_result<First, Next> : std::is_invocable<const Next&> {
};

template <class First, class Next>
[[nodiscard]] auto continue_on_node(const destination& to, const First& first, const Next& next) {
  static_assert(
      is_bare_callable<First> && is_bare_callable<Next>,
      "ham: named(), pooled() and with_policy() cannot be around one of several functions of a node: write one "
      "then(f) whose function calls both");
  static_assert(takes_result<First, Next>::value,
                "ham: the function of this then() does not take what the function before it returns on the node");
  require_crossing<Next>();
  return node_sender<binding<run_in_turn, First, Next>>(to, ham::bind(run_in_turn{}, first, next));
}

#if defined(HAM_STDEXEC) || defined(__cpp_lib_senders)

template <class Sender>
concept made_by_then = requires {
  typename execution::tag_of_t<Sender>;
}
&&std::same_as<execution::tag_of_t<Sender>, execution::then_t>;

template <class Like, class Part>
[[nodiscard]] constexpr decltype(auto) part_of(Part& part) noexcept {
  if constexpr (std::is_lvalue_reference_v<Like>)
    return part;
  else
    return std::move(part);
}

/// Where schedule() and what goes on from it complete. What a library's then() has made of them becomes a call. Other
/// adaptors find themselves before schedule_sender::connect, which says what to do.
struct node_domain {
  /// As called by drafts before the last ones.
  template <class Sender, class... Env>
  requires made_by_then<Sender>
  auto transform_sender(Sender&& sender, const Env&...) const {
    auto& [tag, function, before] = sender;
    return part_of<Sender>(before) | then_on_node<std::decay_t<decltype(function)>>(part_of<Sender>(function));
  }
  /// As called by C++26.
  template <class Sender, class Env>
  requires made_by_then<Sender>
  auto transform_sender(execution::set_value_t, Sender&& sender, const Env&) const {
    return transform_sender(static_cast<Sender&&>(sender));
  }
};

struct node_attributes {
  [[nodiscard]] constexpr node_domain query(execution::get_domain_t) const noexcept { return {}; }
  template <class Tag, class... Env>
  [[nodiscard]] constexpr node_domain query(execution::get_completion_domain_t<Tag>, const Env&...) const noexcept {
    return {};
  }
};

#else

struct node_attributes {};

#endif

/// Base of senders that complete on a node, as far as then() is concerned.
struct completes_on_node {
  [[nodiscard]] constexpr node_attributes get_env() const noexcept { return {}; }
};

}  // namespace ham::offload::detail
