// Groups of nodes: one call for all of them, which goes along a tree from node to node.
//
//   offload::group all;                                                        // or offload::group some{{1, 2, 5}};
//   std::vector<double> parts = offload::async_all(all, fn<&solve>, dt).get().values();
//   double sum = offload::reduce_all(all, fn<&local_sum>, std::plus<>(), 1.0).get();
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/offload/call.hpp"
#include "ham/offload/detail/group_message.hpp"
#include "ham/offload/group_result.hpp"
#include "ham/offload/memory.hpp"
#include "ham/offload/node.hpp"
#include "ham/offload/stop.hpp"
#include "ham/offload/when.hpp"

namespace ham::inline v1 {

namespace offload {

/// Nodes that are called together, in an order: that of results, and of the operands of reductions. A copyable value,
/// which any thread may use. Groups may overlap; the caller may be one of the nodes.
///
/// A call of a group is encoded once. The caller sends it to at most 8 nodes, each with a part of the group that it
/// answers for; these pass the same bytes on to at most 8 nodes of their parts, and so on: of 128 nodes none is more
/// than 3 messages away. Each node passes the message on, runs the function, and answers when the nodes that it answers
/// for have. No thread waits for that.
///
/// Order: calls that one thread sends to one group begin on each node in the order of sending (unless they are pooled),
/// as long as no node of the group is lost in between. Calls of the group and others take different ways, and overtake
/// each other; so do those of groups with other nodes, or the same in another order.
///
/// A node that is lost fails for itself if that is known when the message would be sent to it: another node of its part
/// takes its place. If it dies with the message, all nodes that it answers for fail with its ham::node_failure, which
/// names it, and says for the call to it whether that may have run; those nodes may then have run the function.
/// All nodes must be able to reach each other; where they have no medium in common, other nodes relay.
class group {
 public:
  /// All nodes but this one that can be called now. Throws ham::config_error if there are none.
  group();
  /// Throws ham::config_error for no nodes, negative numbers, and nodes that are there twice. Whether the job has them
  /// is found out by calling them.
  explicit group(std::vector<node_t> nodes);

  /// The nodes in the order of results; not empty, each once.
  [[nodiscard]] const std::vector<node_t>& nodes() const noexcept { return nodes_; }
  /// How many those are.
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  /// Number of the runtime in which it was made, which makes the calls.
  [[nodiscard]] std::uint64_t runtime() const noexcept { return runtime_; }

 private:
  std::vector<node_t> nodes_;
  std::uint64_t runtime_ = 0;
};

/// A group whose calls have a deadline, or can be stopped: what within() and stoppable() give. Refers to the group, and
/// is meant for the call that it stands in.
class group_destination {
 public:
  /// Calls of `to`, with a deadline on std::chrono::steady_clock (0: none), and a token that stops them.
  // NOLINTNEXTLINE(google-explicit-constructor): async_all(group, ...)
  group_destination(const group& to) noexcept : to_(to), terms_{to.runtime(), 0, nullptr, when_stopped::after_answer} {}
  group_destination(const group& to, std::int64_t deadline_ns) noexcept : group_destination(to) {
    terms_.deadline_ns = deadline_ns;
  }
  group_destination(const group& to, std::int64_t deadline_ns, std::stop_token token, when_stopped how) noexcept
      : group_destination(to, deadline_ns) {
    token_ = std::move(token);
    terms_.how = how;
  }
  /// The group itself, which must live as long as this object.
  [[nodiscard]] const group& where() const noexcept { return to_; }
  /// Deadline and token, for the library; refers to this object.
  [[nodiscard]] detail::group_terms terms() const noexcept {
    detail::group_terms all = terms_;
    if (token_) all.token = &*token_;
    return all;
  }

 private:
  const group& to_;
  detail::group_terms terms_;
  std::optional<std::stop_token> token_;
};

/// A group whose calls have a deadline, and can be stopped: by future::request_stop, or by a token. The deadline
/// travels along the tree, and the functions see it (this_call::deadline()). When it passes, nodes whose answers have
/// not come have failed with ham::deadline_exceeded; so have those behind a node that has not answered. A stop goes
/// along the tree as the call did: functions that have begun are told, and give what they then return or throw; nodes
/// on which the call waits, and those behind them, have ham::operation_cancelled, `not_run`. With when_stopped::at_once
/// nodes that have not answered have it at once, `may_have_run`, and the stop goes along the tree all the same.
template <class Rep, class Period>
[[nodiscard]] group_destination within(const group& where, std::chrono::duration<Rep, Period> time) noexcept {
  return {where, within(destination(0), time).deadline_ns};
}
template <class Rep, class Period>
[[nodiscard]] group_destination within(const group& where, std::chrono::duration<Rep, Period> time,
                                       std::stop_token token, when_stopped how = when_stopped::after_answer) {
  return {where, stoppable(within(destination(0), time)).deadline_ns, std::move(token), how};
}
[[nodiscard]] inline group_destination stoppable(const group& where) noexcept {
  return {where, stoppable(destination(0)).deadline_ns};
}
[[nodiscard]] inline group_destination stoppable(const group& where, std::stop_token token,
                                                 when_stopped how = when_stopped::after_answer) {
  return {where, stoppable(destination(0)).deadline_ns, std::move(token), how};
}

namespace detail {

/// What the nodes get. Throws what keeps the arguments from being sent to them.
template <class Message, class Operation, class Core, class... Values>
[[nodiscard]] std::vector<std::byte> encode_for(const group_destination& to, const Operation& operation,
                                                const Core& core, const Values&... values) {
#if HAM_CHECK_ADDRESSES
  check_addresses(current(), {to.where().nodes().front()}, core, values...);
#endif
  std::vector<std::byte> bytes = Message::encode(operation, core, values...);
  refuse_old_handles(engine_of_runtime(to.terms().runtime), operation, core, values...);
  return bytes;
}

}  // namespace detail

/// Calls `callable(args...)` on all nodes of a group, and returns at once with a future of what they answer: for each
/// node its result, or the error with which it has failed. The future itself fails only if an answer cannot be read, or
/// with ham::operation_cancelled if the token of the group was stopped before the call.
/// Arguments are copied before it returns. Any thread. Blocks while the queues to the nodes that the caller sends to
/// are full, at most until the deadline. The results of the nodes behind one node travel in one message, which must not
/// be longer than it may be. future::request_stop stops the call on all nodes if it goes to a stoppable() group, or to
/// one with a deadline or a token; else it takes the call out of the queues in which it has not begun, if it finds it
/// there. Throws ham::config_error if the runtime of the group has ended.
template <class Callable, class... Args>
[[nodiscard]] auto async_all(const group_destination& to, const Callable& callable, const Args&... args)
    -> future<group_result<detail::result_of_call_t<Callable, const Args&...>>> {
  using plan = detail::call_plan<Callable, const Args&...>;
  using result = typename plan::result_type;
  detail::call_slot* slot = nullptr;
  if constexpr (plan::valid) {
    using message = typename detail::group_call_of<typename plan::call, detail::no_operation>::message;
    plan::with(
        [&](const auto& core, const auto&... values) {
          const std::vector<std::byte> bytes = detail::encode_for<message>(to, detail::no_operation(), core, values...);
          slot = detail::start_group(
              to.terms(), to.where().nodes(), {message::entry(), bytes},
              std::make_unique<detail::gathered_results<result>>(to.where().nodes(), message::entry()));
        },
        callable, args...);
  } else {
    [[maybe_unused]] typename plan::report error;
  }
  return detail::future_access::make<group_result<result>>(slot);
}

/// Calls on all nodes and waits. Gives the results in the order of the group, as a std::vector, or nothing. Throws
/// group_error if a node has failed.
template <class Callable, class... Args>
auto sync_all(const group_destination& to, const Callable& callable, const Args&... args) {
  return async_all(to, callable, args...).get().values();
}

/// Calls `callable(args...)` on all nodes of a group, and reduces the results to one by `op(left, right)`, which must
/// be associative: on the nodes of the tree, so that each message holds one value. Operands are in the order of the
/// group: the reduction of (a, b, c, d) is some bracketing of a op b op c op d. The bracketing depends on nothing but
/// the number of nodes, as long as none is lost, so that results of floating-point numbers are the same each time. `op`
/// crosses as the callable does. On the caller it runs on the thread that makes progress, and it must not block.
/// The future fails with group_error if a node has failed, or `op`; else as async_all.
template <class Callable, class Op, class... Args>
[[nodiscard]] auto reduce_all(const group_destination& to, const Callable& callable, const Op& op, const Args&... args)
    -> future<detail::result_of_call_t<Callable, const Args&...>> {
  using plan = detail::call_plan<Callable, const Args&...>;
  using result = typename plan::result_type;
  static_assert(!std::is_void_v<result>, "ham: reduce_all() needs a function that returns something");
  using op_plan = detail::call_plan<Op, result, result>;
  static_assert(!op_plan::valid || std::is_convertible_v<typename op_plan::result_type, result>,
                "ham: the operation of reduce_all() takes two results, and gives one");
  detail::call_slot* slot = nullptr;
  if constexpr (!plan::valid) {
    [[maybe_unused]] typename plan::report error;
  } else if constexpr (!op_plan::valid) {
    [[maybe_unused]] typename op_plan::report error;
  } else {
    using message = typename detail::group_call_of<typename plan::call, Op>::message;
    using operation = msg::core_type_t<Op>;
    plan::with(
        [&](const auto& core, const auto&... values) {
          const std::vector<std::byte> bytes = detail::encode_for<message>(to, msg::core_of(op), core, values...);
          slot = detail::start_group(to.terms(), to.where().nodes(), {message::entry(), bytes},
                                     std::make_unique<detail::reduced_result<result, operation>>(
                                         to.where().nodes(), message::entry(), msg::core_of(op)));
        },
        callable, args...);
  }
  return detail::future_access::make<result>(slot);
}

/// A future that settles when all calls which this thread has sent to the group before have begun on all nodes, and
/// ended if they run in the main queue without waiting for something themselves, or on the node's device. Calls to
/// single nodes are not meant.
[[nodiscard]] inline future<group_result<void>> barrier(const group_destination& to) {
  return async_all(to, fn<&detail::nothing_of_barrier>);
}

// ---- memory

/// Memory for `count` elements on each node of a group, in the order of the group. Blocks. Throws group_error if that
/// fails anywhere; then what the nodes have answered is freed. What a node allocates without an answer that is still
/// awaited (one that came after the deadline, or after a stop with when_stopped::at_once; one of a node that was lost
/// on the way) stays until the process of that node ends.
template <detail::transferable Element>
[[nodiscard]] std::vector<buffer_ptr<Element>> allocate_all(const group_destination& to, std::size_t count);

/// Writes the same elements to memory on many nodes, along a tree: data of at most 256 KiB in one message, longer data
/// in several, of which the next ones leave while the first ones are passed on. The nodes are those of the buffers,
/// which are all of one group, in any order, and must be different. The data may be changed when it returns; it blocks
/// while the queues are full. A node whose buffer cannot be written (freed, too short) fails with ham::buffer_error.
/// The result is that of the group of these nodes; see async_all. Throws ham::config_error as group().
template <std::ranges::contiguous_range Range>
requires detail::transferable<std::ranges::range_value_t<Range>>
[[nodiscard]] future<group_result<void>> broadcast(
    const Range& data, const std::vector<buffer_ptr<std::ranges::range_value_t<Range>>>& to);
/// The same with the deadline, the token and the order of nodes of `to`: broadcast(within(group, 1s), data, buffers).
/// Throws ham::config_error if its nodes are not those of the buffers. Messages that have not left by then do not
/// leave, so that the data is there in part: which nodes have all of it says the result, whose errors are those of the
/// first message that did not arrive. Throws ham::operation_cancelled in the future if none has left.
template <std::ranges::contiguous_range Range>
requires detail::transferable<std::ranges::range_value_t<Range>>
[[nodiscard]] future<group_result<void>> broadcast(
    const group_destination& to, const Range& data,
    const std::vector<buffer_ptr<std::ranges::range_value_t<Range>>>& buffers);
/// Copies `count` elements of the first buffer to all others: its node reads and sends them. Blocks until that node has
/// sent them, and the others have taken them. Throws what keeps the first node from that, and group_error for others.
template <detail::transferable Element>
void broadcast(const std::vector<buffer_ptr<Element>>& buffers, std::size_t count);
/// The same with the deadline and the token of `to`, for which the first node is called. Throws ham::config_error if
/// its nodes are not those of the buffers, and ham::deadline_exceeded or ham::operation_cancelled.
template <detail::transferable Element>
void broadcast(const group_destination& to, const std::vector<buffer_ptr<Element>>& buffers, std::size_t count);

}  // namespace offload

namespace this_call {

/// Of the function of a group that the calling thread executes: the position of this node in the group, and the number
/// of nodes of the group. nullopt and 0 outside of one.
[[nodiscard]] std::optional<std::size_t> group_position() noexcept;
[[nodiscard]] std::size_t group_size() noexcept;

}  // namespace this_call

}  // namespace ham

#include "ham/offload/detail/group_memory.hpp"
