// Stopping calls: a future or a stop token asks, the function on the other node is told (docs/richer-calls.md).
//
//   auto result = offload::async(offload::stoppable(1), fn<&solve>, problem);
//   result.request_stop();                                                        // or by a token:
//   auto other = offload::async(offload::within(1, 10s, source.get_token()), fn<&solve>, problem);
//
//   double solve(problem p) {                                                     // on node 1
//     const auto stop = this_call::stop_token();
//     while (!converged && !stop.stop_requested()) ...
//   }
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "ham/offload/call.hpp"
#include "ham/offload/detail/stop_state.hpp"

namespace ham::inline v1 {

/// Whether the caller of a function wants it to stop. Given by this_call::stop_token(); copies may be used by other
/// threads that the function has started, as long as it runs: none of them may be in stop_requested() when the function
/// returns. Outlives the call, and says then what was last known.
class call_stop_token {
 public:
  /// Of a call that cannot be stopped.
  call_stop_token() noexcept = default;
  /// Of the call that has this state. For the library.
  explicit call_stop_token(std::shared_ptr<detail::stop_state> of) noexcept : state_(std::move(of)) {}

  /// Once true it stays true. Over shared memory it costs some nanoseconds; over other transports it receives, at most
  /// every 2 us, what has arrived for this node. It begins no calls and runs no continuations.
  [[nodiscard]] bool stop_requested() const noexcept { return state_ != nullptr && state_->requested(); }
  /// Whether it can ever become true.
  [[nodiscard]] bool stop_possible() const noexcept { return state_ != nullptr; }

 private:
  std::shared_ptr<detail::stop_state> state_;
};

/// Of the call that the calling thread executes right now: its innermost one.
namespace this_call {

/// Tells when the caller wants it to stop: by future::request_stop, by the token or the deadline of its destination, or
/// because it was itself made by a call that is stopped. Can become true only if the call has a deadline or a token, or
/// goes to a stoppable() destination. Outside of a call: a token that never becomes true.
[[nodiscard]] call_stop_token stop_token();
/// Until when the caller waits, on this node's clock; time_point::max() if it did not say.
[[nodiscard]] std::chrono::steady_clock::time_point deadline() noexcept;

}  // namespace this_call

namespace detail {

/// While it lives, and until it has begun, the next call of this thread waits for its node and for room only as long as
/// the token is not stopped, if it is stoppable(). The token lives as long; nullptr: the call has none.
class token_of_next_call {
 public:
  explicit token_of_next_call(const std::stop_token* token) noexcept;
  token_of_next_call(const token_of_next_call&) = delete;
  token_of_next_call& operator=(const token_of_next_call&) = delete;
  ~token_of_next_call();

 private:
  const std::stop_token* before_;
  unsigned depth_;
};

/// Ties calls to stop tokens.
struct stop_link {
  /// The token stops the call of the slot until that has settled. Throws std::bad_alloc.
  static void attach(call_slot& slot, const std::stop_token& token, offload::when_stopped how);
  /// Of a call that is not made because it was stopped before.
  [[nodiscard]] static call_slot* stopped_slot(engine& at, node_t node);

 private:
  struct callback;
  struct linked;
};

}  // namespace detail

namespace this_call {

/// For what a function has to do after it was stopped: while it lives, calls of this thread take no deadline from the
/// call that it executes, are not stopped with it, and stop_token() and deadline() tell of nothing.
using shield = detail::stop_shield;

}  // namespace this_call

namespace offload {

/// As async(destination, ...); the token of `to` stops the call. Throws std::bad_alloc besides.
template <class Callable, class... Args>
[[nodiscard]] auto async(const stoppable_destination& to, Callable&& callable, Args&&... args)
    -> future<detail::result_of_call_t<Callable, Args...>> {
  using result = detail::result_of_call_t<Callable, Args...>;
  if (to.token().stop_requested())
    return detail::future_access::make<result>(
        detail::stop_link::stopped_slot(detail::engine_for(to.where()), to.where().node));
  const detail::token_of_next_call ends_wait(&to.token());
  auto started = async(to.where(), static_cast<Callable&&>(callable), static_cast<Args&&>(args)...);
  detail::stop_link::attach(*detail::future_access::slot(started), to.token(), to.how());
  return started;
}

/// Calls and waits for the result.
template <class Callable, class... Args>
auto sync(const stoppable_destination& to, Callable&& callable, Args&&... args)
    -> detail::result_of_call_t<Callable, Args...> {
  return async(to, static_cast<Callable&&>(callable), static_cast<Args&&>(args)...).get();
}

/// As try_async(destination, ...); the token of `to` stops the call, and ends its wait for the node.
template <class Callable, class... Args>
[[nodiscard]] auto try_async(const stoppable_destination& to, Callable&& callable, Args&&... args)
    -> std::optional<future<detail::result_of_call_t<Callable, Args...>>> {
  using result = detail::result_of_call_t<Callable, Args...>;
  if (to.token().stop_requested())
    return detail::future_access::make<result>(
        detail::stop_link::stopped_slot(detail::engine_for(to.where()), to.where().node));
  const detail::token_of_next_call ends_wait(&to.token());
  auto started = try_async(to.where(), static_cast<Callable&&>(callable), static_cast<Args&&>(args)...);
  if (started) detail::stop_link::attach(*detail::future_access::slot(*started), to.token(), to.how());
  return started;
}

/// For a function that hangs and never asks: kills the process that executes the call (SIGKILL), with everything else
/// that it does. The node is lost: this future and all others of the node settle with ham::node_failure, its memory and
/// objects are gone. A supervised node is started again, and its number is that of the new process then; another number
/// is not used again. Of a call by retry(), or a repeatable task of a pool, it is the process of the present attempt,
/// and the call may be sent again, as after any loss; not after request_stop(). False: the future has settled, or is
/// not valid, or its call is between two attempts. Does not wait. Only targets of this machine that this node has
/// started, and those reached over tcp that have no targets of their own (the connection is closed, and the waiting
/// program kills what is left 500 ms later); and futures of calls to one node: not of groups, graphs, transfers or
/// then(). Else throws ham::call_error, and std::system_error if the system refuses.
template <class Result>
bool kill_call(const future<Result>& of) {
  ham::detail::call_slot* const slot = detail::future_access::slot(of);
  return slot != nullptr && !slot->settled() && ham::detail::kill_call(*slot);
}

}  // namespace offload
}  // namespace ham
