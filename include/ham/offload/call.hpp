// The verbs that run functions on other nodes: sync, async, try_async, ping (paper 1, Table II).
//
// Each takes a destination and either a functor made by f2f (or any object with result_type and operator()), or a
// callable - fn<&function>, a lambda, a function object, named<"key">(...), pooled(...) - followed by its arguments.
#pragma once

#include <optional>
#include <utility>

#include "ham/offload/detail/call_message.hpp"
#include "ham/offload/future.hpp"

namespace ham::offload {

namespace detail {

/// Encodes and sends one call. False: it was not sent, see begin_call.
template <class Call, class... Params>
bool send_call(engine& at, const destination& to, result_decoder decode, when_full policy, outgoing& out,
               const typename Call::core& callable, const Params&... values) {
  using message = typename Call::message;
  const std::size_t size = message::size(callable, values...);
  if (!begin_call(at, to, message::entry(), size, decode, policy, out)) return false;
  try {
    msg::writer target(out.data, size);
    message::encode(target, callable, values...);
    target.expect_full();
  } catch (...) {
    cancel_call(at, out);
    throw;
  }
  finish_call(at, out);
  return true;
}

template <class Callable, class Result, class... Params>
void enlist_call(std::type_identity<msg::detail::call_shape<Result, Params...>>) {
  call_of<Callable, std::decay_t<Params>...>::message::entry().enlist();
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
/// (or moved into the message) before it returns. Any thread. Blocks only while the queue to the node is full, at most
/// until the deadline of `to`.
/// Throws ham::call_error if the node does not know the function, ham::node_failure if it is gone; what the function
/// throws is thrown by get().
template <class Callable, class... Args>
[[nodiscard]] auto async(destination to, Callable&& callable, Args&&... args)
    -> future<detail::result_of_call_t<Callable, Args...>> {
  using result = detail::result_of_call_t<Callable, Args...>;
  detail::outgoing out;
  detail::with_call(
      [&]<class Call>(std::type_identity<Call>, const auto& core, const auto&... values) {
        detail::send_call<Call>(detail::current(), to, &detail::slot_value<result>::decode, detail::when_full::wait,
                                out, core, values...);
      },
      callable, std::forward<Args>(args)...);
  return future<result>(out.slot);
}

/// Calls and waits for the result.
template <class Callable, class... Args>
auto sync(destination to, Callable&& callable, Args&&... args) -> detail::result_of_call_t<Callable, Args...> {
  return offload::async(to, std::forward<Callable>(callable), std::forward<Args>(args)...).get();
}

/// As async, but returns nothing at once if the queue to the node is full. One message that is longer than the queue is
/// taken over if no other one waits; the rest of it leaves while this node makes progress.
template <class Callable, class... Args>
[[nodiscard]] auto try_async(destination to, Callable&& callable, Args&&... args)
    -> std::optional<future<detail::result_of_call_t<Callable, Args...>>> {
  using result = detail::result_of_call_t<Callable, Args...>;
  detail::outgoing out;
  const bool sent = detail::with_call(
      [&]<class Call>(std::type_identity<Call>, const auto& core, const auto&... values) {
        return detail::send_call<Call>(detail::current(), to, &detail::slot_value<result>::decode,
                                       detail::when_full::refuse, out, core, values...);
      },
      callable, std::forward<Args>(args)...);
  if (!sent) return std::nullopt;
  return future<result>(out.slot);
}

/// Fire and forget: runs the callable there once, sends nothing back. An exception there is reported on its stderr.
/// Blocks while the queue to the node is full or too many calls wait on it, at most until the deadline of `to`; then
/// throws ham::deadline_exceeded. Else throws as async.
template <class Callable, class... Args>
void ping(destination to, Callable&& callable, Args&&... args) {
  detail::outgoing out;
  detail::with_call(
      [&]<class Call>(std::type_identity<Call>, const auto& core, const auto&... values) {
        detail::send_call<Call>(detail::current(), to, nullptr, detail::when_full::wait, out, core, values...);
      },
      callable, std::forward<Args>(args)...);
}

}  // namespace ham::offload
