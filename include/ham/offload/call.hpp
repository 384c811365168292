// The verbs that run functions on other nodes: sync, async, try_async, ping (paper 1, Table II).
//
// Each takes a destination and either a functor made by f2f (or any object with result_type and operator()), or a
// callable - fn<&function>, a lambda, a function object, named<"key">(...), pooled(...) - followed by its arguments.
#pragma once

#include <optional>
#include <utility>

#include "ham/offload/detail/call_message.hpp"
#include "ham/offload/detail/pointer_warning.hpp"
#include "ham/offload/future.hpp"

namespace ham::inline v1::offload {

namespace detail {

template <class Callable, class Result, class... Params>
void enlist_call(std::type_identity<msg::detail::call_shape<Result, Params...>>) {
  using call = call_of<Callable, std::decay_t<Params>...>;
  if constexpr (call::valid)
    call::message::entry().enlist();
  else [[maybe_unused]]
    typename call::report error;
}

/// Encodes and sends a call. Without room for it and when_full::refuse the future is invalid.
template <class Callable, class... Args>
[[nodiscard]] auto start_call(const destination& to, when_full policy, const Callable& callable, Args&&... args)
    -> future<result_of_call_t<Callable, Args...>> {
  using plan = call_plan<Callable, Args...>;
  using result = typename plan::result_type;
  call_slot* slot = nullptr;
  if constexpr (plan::valid)
    slot = plan::send(engine_for(to), call_place(to), &slot_value<result>::decode, policy, callable,
                      static_cast<Args&&>(args)...);
  else [[maybe_unused]]
    typename plan::report error;
  return detail::future_access::make<result>(slot);
}

/// As start_call, without a reply.
template <class Callable, class... Args>
void send_ping(const destination& to, const Callable& callable, Args&&... args) {
  using plan = call_plan<Callable, Args...>;
  if constexpr (plan::valid)
    plan::send(engine_for(to), call_place(to), nullptr, when_full::wait, callable, static_cast<Args&&>(args)...);
  else [[maybe_unused]]
    typename plan::report error;
}

}  // namespace detail

/// Lets other programs call this function here although this one calls it nowhere itself: a function by fn<&function>,
/// with named<"..."> or not. Once per process before its runtime starts; a namespace-scope `static const bool`
/// initialised by it does. Always true.
template <class Callable>
requires msg::has_fixed_parameters_v<Callable>
bool offer(const Callable&) {
  detail::enlist_call<Callable>(std::type_identity<typename msg::detail::shape_of<msg::core_type_t<Callable>>::type>());
  return true;
}

/// Starts a call of `callable(args...)` on `to` and returns at once with a future of its result. Arguments are copied
/// (or moved into the message) before it returns. Any thread. Blocks only while the queue to the node is full, or
/// the node is not connected yet or is being started again; at most until the deadline of `to`.
/// Throws ham::call_error if the node does not know the function, ham::node_failure if it is gone; what the function
/// throws is thrown by get().
template <class Callable, class... Args>
requires(!detail::sends_pointers<Callable, Args...>)
    [[nodiscard]] auto async(const destination& to, Callable&& callable, Args&&... args)
        -> future<detail::result_of_call_t<Callable, Args...>> {
  return detail::start_call<std::decay_t<Callable>>(to, detail::when_full::wait, callable,
                                                    static_cast<Args&&>(args)...);
}
template <class Callable, class... Args, class HoldsPointer = detail::pointer_holder_of_call<Callable, Args...>>
requires detail::sends_pointers<Callable, Args...>
[[nodiscard]] HAM_WARN_OF_POINTERS auto async(const destination& to, Callable&& callable, Args&&... args)
    -> future<detail::result_of_call_t<Callable, Args...>> {
  return detail::start_call<std::decay_t<Callable>>(to, detail::when_full::wait, callable,
                                                    static_cast<Args&&>(args)...);
}

/// Calls and waits for the result.
template <class Callable, class... Args>
requires(!detail::sends_pointers<Callable, Args...>) auto sync(const destination& to, Callable&& callable,
                                                               Args&&... args)
    -> detail::result_of_call_t<Callable, Args...> {
  return detail::start_call<std::decay_t<Callable>>(to, detail::when_full::wait, callable, static_cast<Args&&>(args)...)
      .get();
}
template <class Callable, class... Args, class HoldsPointer = detail::pointer_holder_of_call<Callable, Args...>>
requires detail::sends_pointers<Callable, Args...> HAM_WARN_OF_POINTERS auto sync(const destination& to,
                                                                                  Callable&& callable, Args&&... args)
    -> detail::result_of_call_t<Callable, Args...> {
  return detail::start_call<std::decay_t<Callable>>(to, detail::when_full::wait, callable, static_cast<Args&&>(args)...)
      .get();
}

/// As async, but returns nothing at once if the queue to the node is full. One message that is longer than the queue is
/// taken over if no other one waits; the rest of it leaves while this node makes progress. As async, it waits for the
/// connection to the node, and for a supervised node that is being started again.
template <class Callable, class... Args>
requires(!detail::sends_pointers<Callable, Args...>)
    [[nodiscard]] auto try_async(const destination& to, Callable&& callable, Args&&... args)
        -> std::optional<future<detail::result_of_call_t<Callable, Args...>>> {
  auto started =
      detail::start_call<std::decay_t<Callable>>(to, detail::when_full::refuse, callable, static_cast<Args&&>(args)...);
  if (!started.valid()) return std::nullopt;
  return started;
}
template <class Callable, class... Args, class HoldsPointer = detail::pointer_holder_of_call<Callable, Args...>>
requires detail::sends_pointers<Callable, Args...>
[[nodiscard]] HAM_WARN_OF_POINTERS auto try_async(const destination& to, Callable&& callable, Args&&... args)
    -> std::optional<future<detail::result_of_call_t<Callable, Args...>>> {
  auto started =
      detail::start_call<std::decay_t<Callable>>(to, detail::when_full::refuse, callable, static_cast<Args&&>(args)...);
  if (!started.valid()) return std::nullopt;
  return started;
}

/// Fire and forget: runs the callable there once, sends nothing back. An exception there is reported on its stderr.
/// Blocks while the queue to the node is full or too many calls wait on it, at most until the deadline of `to`; then
/// throws ham::deadline_exceeded. Else throws as async.
template <class Callable, class... Args>
requires(!detail::sends_pointers<Callable, Args...>) void ping(const destination& to, Callable&& callable,
                                                               Args&&... args) {
  detail::send_ping<std::decay_t<Callable>>(to, callable, static_cast<Args&&>(args)...);
}
template <class Callable, class... Args, class HoldsPointer = detail::pointer_holder_of_call<Callable, Args...>>
requires detail::sends_pointers<Callable, Args...> HAM_WARN_OF_POINTERS void ping(const destination& to,
                                                                                  Callable&& callable, Args&&... args) {
  detail::send_ping<std::decay_t<Callable>>(to, callable, static_cast<Args&&>(args)...);
}

}  // namespace ham::offload
