// Where a call goes and how long it may take.
#pragma once

#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "ham/error.hpp"
#include "ham/msg/std_forward.hpp"
#include "ham/offload/node_number.hpp"

namespace ham::inline v1::offload {

using ham::node_t;

/// When the future of a call settles that was told to stop while it ran.
enum class when_stopped : std::uint8_t {
  after_answer,  ///< with what the function then returns or throws
  at_once,       ///< with ham::operation_cancelled; what the function does afterwards is dropped
};

namespace detail {

template <class Rep, class Period>
[[nodiscard]] constexpr long double nanoseconds_in(std::chrono::duration<Rep, Period> time) noexcept {
  return static_cast<long double>(time.count()) * Period::num * 1e9L / Period::den;
}
template <class>
inline constexpr bool takes_a_stop_token = false;

/// As an integer; 0 for what is negative, INT64_MAX for what is beyond it.
[[nodiscard]] std::int64_t clamped_nanoseconds(long double time_ns) noexcept;
/// Nanoseconds on steady_clock `wanted_ns` from now; INT64_MAX if that is beyond what the clock can tell.
[[nodiscard]] std::int64_t nanoseconds_from_now(long double wanted_ns) noexcept;

/// A time since the clock's epoch; INT64_MAX if it is beyond what nanoseconds can tell.
template <class Rep, class Period>
[[nodiscard]] std::int64_t nanoseconds_of(std::chrono::duration<Rep, Period> time) noexcept {
  return clamped_nanoseconds(nanoseconds_in(time));
}

/// Nanoseconds on steady_clock `time` from now; INT64_MAX if that is beyond what the clock can tell.
template <class Rep, class Period>
[[nodiscard]] std::int64_t time_from_now(std::chrono::duration<Rep, Period> time) noexcept {
  return nanoseconds_from_now(nanoseconds_in(time));
}

/// Where a call goes, once it is known by which runtime.
struct call_place {
  node_t node;
  std::uint32_t context = 0;     ///< 0: the node's main queue
  std::int64_t deadline_ns = 0;  ///< on std::chrono::steady_clock; 0: none
};

}  // namespace detail

/// A node, optionally a context on it, a deadline, and a runtime. Implicitly made from a node number or a context;
/// ham::runtime::node() gives one that names its runtime. A copyable value, which may outlive its runtime: using it
/// then throws ham::config_error.
struct destination : detail::call_place {
  /// Where calls go. Numbers that node_t cannot hold throw ham::call_error; whether the job has the node is found out
  /// by calling it. `in_context`: context::id(), 0 for the node itself; `of_runtime`: see `runtime`. No deadline.
  // NOLINTNEXTLINE(google-explicit-constructor): async(1, ...) must read like the papers
  template <detail::integer Number>
  constexpr destination(Number on) noexcept(detail::always_a_node_t<Number>) : call_place{node_number(on)} {}
  constexpr destination(node_number on) noexcept : call_place{on} {}  // NOLINT(google-explicit-constructor)
  constexpr destination(node_t on, std::uint32_t in_context, std::uint64_t of_runtime = 0) noexcept
      : call_place{on, in_context}, runtime(of_runtime) {}

  std::uint64_t runtime = 0;  ///< 0: that of the calling thread; else whose node it is, see ham::runtime::node()
};

/// `where` with a deadline from now: async(within(1, 10ms), ...), allocate<int>(within(1, 1s), n),
/// put(within(1, 1s), src, dst, n). It is taken wherever a node is, and bounds connecting, waiting for room in the
/// queue to the node, and waiting for its answer. When it passes first, the future settles with ham::deadline_exceeded,
/// or a verb without a future throws that; its outcome says whether anything can have happened. A result that arrives
/// later is dropped; what it would have owned (memory, a context, an object) is given back.
template <class Rep, class Period>
[[nodiscard]] destination within(destination where, std::chrono::duration<Rep, Period> time) noexcept {
  where.deadline_ns = detail::time_from_now(time);
  if (where.deadline_ns == INT64_MAX) where.deadline_ns = 0;
  return where;
}

/// `where`, for calls that future::request_stop reaches also while they run: this_call::stop_token() of their function
/// tells. A destination with a deadline is one already. Costs such a call eight bytes and two allocations on its node.
[[nodiscard]] inline destination stoppable(destination where) noexcept {
  if (where.deadline_ns == 0) where.deadline_ns = INT64_MAX;
  return where;
}

/// A destination with a stop token: taken by async, sync and try_async, also within retry(); by put, get and copy and
/// what is built on them; and by allocate, buffer, context and make. A verb that takes none does not compile with one.
class stoppable_destination {
 public:
  /// As stoppable(to, token, how); a deadline of `to` is kept.
  stoppable_destination(const destination& to, std::stop_token token, when_stopped how) noexcept
      : to_(stoppable(to)), token_(std::move(token)), how_(how) {}
  /// The destination, which is stoppable().
  [[nodiscard]] const destination& where() const noexcept { return to_; }
  /// Stops what is sent to this destination.
  [[nodiscard]] const std::stop_token& token() const noexcept { return token_; }
  /// When the futures of running calls settle that it stops.
  [[nodiscard]] when_stopped how() const noexcept { return how_; }

  /// Does not compile: the message says what takes a token.
  template <class Plain>
  requires std::is_same_v<Plain, destination>
  operator Plain() const {  // NOLINT(google-explicit-constructor): where a destination is asked for
    static_assert(
        detail::takes_a_stop_token<Plain>,
        "ham: this verb takes no stop token: ping and batches have no future that it could stop, senders take the "
        "token of their receiver, and what frees, destroys or asks a node is not taken back. Bound it by within(node, "
        "time); a token goes to async, sync, try_async, put, get, copy, allocate, buffer, context and make");
    return to_;
  }

 private:
  destination to_;
  std::stop_token token_;
  when_stopped how_;
};

/// `where` with a deadline and a token: async(within(1, 10ms, token), ...). When the token is stopped, so is the call,
/// as by future::request_stop(how); a call that is made afterwards fails with ham::operation_cancelled, `not_run`.
/// That also ends a wait of `async` itself for room in the queue to the node, for its connection, or for a supervised
/// node that is started again. Who stops the token sends the stop: request_stop() of its source then takes the lock of
/// this runtime. For transfers see transfer.hpp.
template <class Rep, class Period>
[[nodiscard]] stoppable_destination within(const destination& where, std::chrono::duration<Rep, Period> time,
                                           std::stop_token token, when_stopped how = when_stopped::after_answer) {
  return {within(where, time), std::move(token), how};
}
/// The same without a deadline.
[[nodiscard]] inline stoppable_destination stoppable(const destination& where, std::stop_token token,
                                                     when_stopped how = when_stopped::after_answer) {
  return {where, std::move(token), how};
}

/// What put, get and copy take in front: whatever is a destination, or one with a stop token. Made implicitly.
struct transfer_destination {
  template <class Where>
  requires(std::is_convertible_v<Where, destination> &&
           !std::is_same_v<std::remove_cvref_t<Where>, stoppable_destination>)
      // NOLINTNEXTLINE(google-explicit-constructor): put(1, ...) must read like the papers
      constexpr transfer_destination(Where&& to)
      : where(static_cast<Where&&>(to)) {}
  transfer_destination(const stoppable_destination& to)  // NOLINT(google-explicit-constructor)
      : where(to.where()), token(to.token()) {}

  destination where;
  std::stop_token token;  ///< none: it is not stopped
};

}  // namespace ham::offload
