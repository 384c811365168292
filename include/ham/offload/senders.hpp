// Calls as senders (P2300, std::execution): composed first, started later. Not part of ham/offload.hpp.
//
//   auto work = offload::call(1, fn<&solve>, problem);                       // nothing is sent yet
//   auto [result] = *offload::sync_wait(std::move(work));                     // now, and waits
//   offload::sync_wait(offload::schedule(1) | offload::then([] { warm_up(); }) | offload::then([] { return ready();
//   })); auto both = stdexec::when_all(offload::call(1, fn<&f>), offload::call(2, fn<&g>)) | stdexec::then(combine);
//
// With the library of C++26 they are senders of std::execution. A program that defines HAM_STDEXEC before this include
// has senders of stdexec. In any other one HAM's own names stand for the protocol, whose parts are all members: a
// receiver is connected by sender.connect(receiver), which gives an operation state, and operation.start() starts that.
// ham::offload::execution has the names that are in use.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "ham/msg/bound.hpp"
#include "ham/msg/codec.hpp"
#include "ham/offload/detail/sender_on_node.hpp"
#include "ham/offload/detail/sender_operation.hpp"
#include "ham/offload/detail/sender_wait.hpp"

namespace ham::inline v1::offload::inline HAM_SENDERS {

/// What call() makes. Movable, and copyable if the callable and its arguments are; it can be connected several times.
///
/// An operation of it sends the call when it is started, as async does, and may block as that does while the queue to
/// the node is full. It completes exactly once, on the thread that makes progress on this node (within start(), if the
/// call cannot be sent), as a continuation would run (docs/thread-model.md):
///   set_value(result), or set_value() for void;
///   set_error(std::exception_ptr): what the function threw, ham::node_failure, ham::deadline_exceeded, whatever get()
///     of a future throws, or what async throws;
///   set_stopped(): the call was stopped, where get() throws ham::operation_cancelled.
/// The environment of the receiver may have a stop token. If that is stopped before the start, nothing is sent. If it
/// is stopped later, the call is asked to stop, as by future::request_stop(): a function that is told, and returns a
/// value all the same, completes with the value. The operation allocates nothing that async does not allocate.
template <class Bound>
class call_sender : public detail::sender_of<typename Bound::result_type> {
 public:
  /// What call(to, ...) makes of a bound call.
  explicit call_sender(const destination& to, Bound call) : to_(to), call_(std::move(call)) {}

  /// The operation, to be started once. Sends nothing. Moves the call out of this sender, or copies it, so that the
  /// sender can be connected again.
  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) && -> detail::call_operation<Bound, Receiver> {
    return {to_, std::move(call_), std::move(receiver)};
  }
  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) const& -> detail::call_operation<Bound, Receiver> {
    return {to_, call_, std::move(receiver)};
  }

 private:
  friend struct detail::sender_access;
  destination to_;
  Bound call_;
};

/// callable(args...) on `to`, when the sender is started. Callable and arguments are those of async; they are converted
/// and copied at once, or moved in. What views and spans among them point to must stay until the call has been sent.
/// `to` is a node, a context, a node of a certain runtime; the time of within() counts from the making of `to`, not
/// from the start. Any thread may start it; a `to` that names no runtime is of the runtime of that thread. Sends
/// nothing, and does not block.
template <class Callable, class... Args>
requires(!msg::is_bound_v<std::decay_t<Callable>> && !detail::sends_pointers<Callable, Args...>)
    [[nodiscard]] auto call(const destination& to, Callable&& callable, Args&&... args)
        -> call_sender<bound_t<std::decay_t<Callable>, Args...>> {
  return detail::make_call(to, bind_call(static_cast<Callable&&>(callable), static_cast<Args&&>(args)...));
}
template <class Callable, class... Args, class HoldsPointer = detail::pointer_holder_of_call<Callable, Args...>>
requires(!msg::is_bound_v<std::decay_t<Callable>> && detail::sends_pointers<Callable, Args...>)
    [[nodiscard]] HAM_WARN_OF_POINTERS auto call(const destination& to, Callable&& callable, Args&&... args)
        -> call_sender<bound_t<std::decay_t<Callable>, Args...>> {
  return detail::make_call(to, bind_call(static_cast<Callable&&>(callable), static_cast<Args&&>(args)...));
}
/// The same of what f2f() gives.
template <class Callable, class... Params>
[[nodiscard]] auto call(const destination& to, bound<Callable, Params...> functor)
    -> call_sender<bound<Callable, Params...>> {
  return detail::make_call(to, std::move(functor));
}

/// What as_sender() makes: a future that completes a receiver. Movable, connected once. If it goes before it is
/// connected, it waits as the destructor of the future does.
template <class Result>
class future_sender : public detail::sender_of<Result> {
 public:
  /// As as_sender(of).
  explicit future_sender(future<Result>&& of) noexcept : of_(std::move(of)) {}

  /// The operation, which takes the future. Its start() sends nothing: it completes when the future settles.
  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) && -> detail::future_operation<Result, Receiver> {
    return {std::move(of_), std::move(receiver)};
  }

 private:
  friend struct detail::sender_access;
  future<Result> of_;
};

/// A future of any operation (a call that runs already, put, get, then) as a sender, which completes as a call() does.
/// A stop token stops a call that can be stopped (stoppable()), or that waits in a queue; of other operations nothing.
/// The error of a future that is not valid is ham::error. Invalidates `of`.
template <class Result>
[[nodiscard]] future_sender<Result> as_sender(future<Result>&& of) noexcept {
  return future_sender<Result>(std::move(of));
}

/// What then() makes: the continuation of schedule(node).
template <class Function>
class then_on_node {
 public:
  /// As then(function).
  explicit then_on_node(Function function) : function_(std::move(function)) {}
  /// The continuation; lives as long as this object.
  [[nodiscard]] const Function& function() const noexcept { return function_; }

 private:
  Function function_;
};

/// For schedule(node) | then(f): f() runs on the node, and so it has to cross like a callable of async: fn<&function>,
/// a lambda without captures or with ones that cross by their bytes, ham::bind(f, values...). What cannot cross does
/// not compile, and the compiler says why. A second then(g) runs g(f()) there, or f(), g() for void, within the same
/// message; only the last result comes back. named, pooled and with_policy go around the only then(), not around one of
/// several. The then of the sender library does the same behind schedule(), and runs here behind other senders, such as
/// call().
template <class Function>
[[nodiscard]] auto then(Function&& function) -> then_on_node<std::decay_t<Function>> {
  return then_on_node<std::decay_t<Function>>(static_cast<Function&&>(function));
}

/// What schedule(node) | then(f) makes: as call(node, f), but that a further then() continues it on the node.
template <class Function>
class node_sender : public call_sender<bound<Function>>, public detail::completes_on_node {
 public:
  /// The call of a copy of `function` on `to`.
  explicit node_sender(const destination& to, const Function& function)
      : call_sender<bound<Function>>(to, bound<Function>(std::in_place, function)) {}

  template <class Next>
  [[nodiscard]] friend auto operator|(const node_sender& first, const then_on_node<Next>& next) {
    using detail::sender_access;
    return detail::continue_on_node(sender_access::where(first), sender_access::callable(first), next.function());
  }
};

/// What schedule() makes: the place where then() runs its function. It is no operation by itself.
class schedule_sender : public detail::sender_of<void>, public detail::completes_on_node {
 public:
  /// As schedule(to).
  explicit schedule_sender(const destination& to) noexcept : to_(to) {}

  template <class Function>
  friend auto operator|(const schedule_sender& on, const then_on_node<Function>& first) {
    return detail::begin_on_node(on.to_, first.function());
  }
  /// Does not compile: the message says what to write instead.
  template <class Receiver>
  detail::operation_of_schedule connect(Receiver) const {
    static_assert(
        std::is_void_v<Receiver>,
        "ham: schedule(node) does nothing by itself, and of the adaptors only then(f) runs its function on the "
        "node: write schedule(node) | ham::offload::then(f), or ham::offload::call(node, f, arguments...), "
        "whose result other adaptors go on with here");
    return {};
  }

 private:
  destination to_;
};

/// schedule(node) | then(f): f on that node, when the sender is started; see then(). `node` is a destination as of
/// call(). With a sender library it can be asked for its domain, so that the library's own then() does the same.
[[nodiscard]] inline schedule_sender schedule(const destination& node) noexcept { return schedule_sender(node); }

/// Starts a sender and waits until it has completed; makes progress meanwhile, as get() of a future does: for senders
/// that are completed by calls of this node, which the sync_wait of a sender library does not further. Gives the
/// values; nothing if it was stopped; throws its error (std::error_code as std::system_error, what is no exception as
/// itself). Any sender that has one way to have a value, also one of the sender library around those of HAM. The
/// receiver's environment has no stop token and no scheduler. Throws ham::config_error if no runtime is up, and what
/// connecting throws.
template <class Sender>
auto sync_wait(Sender&& sender) -> std::optional<typename detail::waited_for<Sender>::type> {
  return detail::wait_for_sender(static_cast<Sender&&>(sender));
}

}  // namespace ham::offload
