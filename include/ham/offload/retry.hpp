// Calls that are repeated when the process that they ran in has died, and another one has its number.
//
//   offload::supervise(1);
//   auto result = offload::async(offload::retry(1, 3), idempotent(fn<&solve>), problem);
#pragma once

#include <stop_token>
#include <type_traits>
#include <utility>

#include "ham/msg/idempotent.hpp"
#include "ham/offload/detail/pool_calls.hpp"
#include "ham/offload/future.hpp"
#include "ham/offload/stop.hpp"

namespace ham::inline v1::offload {

/// A destination whose calls are repeated: taken by async and sync.
class retried_destination {
 public:
  /// As retry(to, times).
  constexpr retried_destination(const destination& to, unsigned times) noexcept : to_(to), times_(times) {}
  /// The destination of every attempt, with its deadline.
  [[nodiscard]] constexpr const destination& where() const noexcept { return to_; }
  /// Repetitions at most, the first attempt not counted.
  [[nodiscard]] constexpr unsigned times() const noexcept { return times_; }

 private:
  destination to_;
  unsigned times_;
};

/// `where`, for calls of idempotent(...) that are sent again, at most `times` times, when they fail because the process
/// of the node has died: to the process that has its number then (supervise). Without supervision there is none, and
/// the call fails as ever; so do calls to the number from within its on_respawn. A deadline of `where` holds for all of
/// it, also while another process is being started.
[[nodiscard]] constexpr retried_destination retry(const destination& where, unsigned times) noexcept {
  return {where, times};
}

/// The same with a stop token: taken by async and sync.
class stoppable_retried_destination {
 public:
  /// As retry(to, times).
  stoppable_retried_destination(stoppable_destination to, unsigned times) noexcept
      : to_(std::move(to)), times_(times) {}
  /// The destination of every attempt, without the token.
  [[nodiscard]] retried_destination where() const noexcept { return {to_.where(), times_}; }
  /// Stops the calls that are sent to this destination.
  [[nodiscard]] const std::stop_token& token() const noexcept { return to_.token(); }
  /// When the futures of running calls settle that it stops.
  [[nodiscard]] when_stopped how() const noexcept { return to_.how(); }

 private:
  stoppable_destination to_;
  unsigned times_;
};

/// `where` with a token, as of within(node, time, token): it stops the attempt that is under way, and no other follows.
[[nodiscard]] inline stoppable_retried_destination retry(stoppable_destination where, unsigned times) noexcept {
  return {std::move(where), times};
}

namespace detail {

/// Sends it; gives the slot of its result. Throws as async.
[[nodiscard]] call_slot* start_retried(const retried_destination& to, repeatable_call call);

}  // namespace detail

/// As async and sync to a destination, for callables within idempotent(): calls that may have run are repeated, too.
/// The future fails with the first loss after which the call may have run, else with the first one, when no repetition
/// is left or no process. Arguments are copied into the message, which is kept until the future settles.
/// future::request_stop stops the attempt that is under way, as it would stop that call alone, and no other follows: if
/// the process of a stopped attempt is lost, or was while the next one is awaited, the future fails with that loss,
/// once it is known whether there is another process.
template <class Callable, class... Args>
[[nodiscard]] auto async(const retried_destination& to, const Callable& callable, const Args&... args)
    -> future<detail::result_of_call_t<Callable, const Args&...>> {
  using plan = detail::call_plan<Callable, const Args&...>;
  using result = typename plan::result_type;
  static_assert(msg::is_idempotent_v<Callable>,
                "ham: retry() repeats calls that may have run already: say that this is right by idempotent(callable)");
  detail::call_slot* slot = nullptr;
  if constexpr (plan::valid)
    slot = detail::start_retried(to, detail::make_repeatable<plan>(to.where(), callable, args...));
  else [[maybe_unused]]
    typename plan::report error;
  return detail::future_access::make<result>(slot);
}
/// The same; the token of `to` stops the call. Throws std::bad_alloc besides.
template <class Callable, class... Args>
[[nodiscard]] auto async(const stoppable_retried_destination& to, const Callable& callable, const Args&... args)
    -> future<detail::result_of_call_t<Callable, const Args&...>> {
  if (to.token().stop_requested())
    return detail::future_access::make<detail::result_of_call_t<Callable, const Args&...>>(
        detail::stop_link::stopped_slot(detail::engine_for(to.where().where()), to.where().where().node));
  const detail::token_of_next_call ends_wait(&to.token());
  auto started = offload::async(to.where(), callable, args...);
  detail::stop_link::attach(*detail::future_access::slot(started), to.token(), to.how());
  return started;
}
template <class Callable, class... Args>
auto sync(const stoppable_retried_destination& to, const Callable& callable, const Args&... args)
    -> detail::result_of_call_t<Callable, const Args&...> {
  return offload::async(to, callable, args...).get();
}
template <class Callable, class... Args>
auto sync(const retried_destination& to, const Callable& callable, const Args&... args)
    -> detail::result_of_call_t<Callable, const Args&...> {
  return offload::async(to, callable, args...).get();
}

}  // namespace ham::offload
