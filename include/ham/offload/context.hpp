// An ordered queue of calls with a thread of its own on the target (VEO's thr_ctxt, paper 2).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "ham/offload/destination.hpp"

namespace ham::inline v1::offload {

/// Calls sent to one context run one after the other, in order, on one thread of the target; different contexts run
/// beside each other and beside the node's main queue. Movable. The destructor lets queued calls finish and ends the
/// thread; it does not wait for a node that is stopped, which is left to do so by itself (HAM_CLOSE_TIMEOUT). Usable
/// wherever a destination is: sync(ctx, ...), async(within(ctx, 1s), ...); a closed one, or one that was moved from,
/// throws ham::call_error there. It belongs to the runtime that it was made under, or that its destination names,
/// whatever runtime its calls and its end find.
class context {
 public:
  /// Opens a context. Blocking, at most until the deadline of `on`: then throws ham::deadline_exceeded, and a context
  /// that the node opens nevertheless is closed when its answer comes. Else throws ham::node_failure, ham::call_error.
  explicit context(destination on);
  /// The same with room for `stack_bytes` on the thread's stack, taken from memory as it is used; 0: the usual size.
  context(destination on, std::size_t stack_bytes);
  /// The same; the token of `on` takes the request out of a queue, here or on the node: then throws
  /// ham::operation_cancelled, `not_run`. One that the node has begun is waited for.
  explicit context(const stoppable_destination& on, std::size_t stack_bytes = 0);
  context(context&& other) noexcept : node_(other.node_), id_(std::exchange(other.id_, 0)), runtime_(other.runtime_) {}
  context& operator=(context&& other) noexcept;
  ~context();

  /// The process that has its thread; also after close(). A process that takes over a lost one's number has a number of
  /// its own, and not its contexts.
  [[nodiscard]] node_t node() const noexcept { return node_; }
  /// Its number on that node; 0 once it is closed or was moved from.
  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  /// Whether it is open, as far as this object knows: a node that was lost does not change it.
  [[nodiscard]] bool valid() const noexcept { return id_ != 0; }
  /// Throws ham::call_error if it is closed or was moved from.
  // NOLINTNEXTLINE(google-explicit-constructor): a context is a destination
  operator destination() const {
    if (id_ == 0) throw_closed();
    return {node_, id_, runtime_};
  }

  /// Waits until all calls sent to the context so far have run. Throws ham::node_failure, and ham::call_error if calls
  /// by ping did not run because too many waited on the node.
  void drain();
  /// The same for at most `limit`, then throws ham::deadline_exceeded.
  void drain(std::chrono::nanoseconds limit);
  /// Drains and ends the context; a no-op on a closed one. Throws what draining throws.
  void close();
  /// The same. If the limit passes, the context ends by itself when its calls have run; unless the outcome of the
  /// exception is not_run: then it is still open.
  void close(std::chrono::nanoseconds limit);

 private:
  [[noreturn]] static void throw_closed();

  node_t node_ = -1;
  std::uint32_t id_ = 0;
  std::uint64_t runtime_ = 0;
};

}  // namespace ham::offload
