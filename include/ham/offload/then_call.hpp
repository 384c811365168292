// put, then call: the call runs on the node when the bytes are there, and nobody waits in between.
//
//   offload::buffer<double> halo(1, n);
//   auto sum = offload::put(data, halo.ptr(), n, then_call(fn<&sum_of>, halo.ptr(), n));  // no wait in between
//   std::cout << sum.get();
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include "ham/msg/bound.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/detail/bringing_message.hpp"
#include "ham/offload/memory.hpp"
#include "ham/offload/unobserved_error.hpp"

namespace ham::inline v1::offload {

/// A call that waits for the bytes of a transfer: what then_call() makes.
template <class Bound>
class call_then {
 public:
  using result_type = typename Bound::result_type;  ///< what the future of the transfer gives
  /// As then_call(call).
  explicit call_then(Bound call) : call_(std::move(call)) {}
  /// The call with its arguments.
  [[nodiscard]] const Bound& call() const& noexcept { return call_; }
  [[nodiscard]] Bound&& call() && noexcept { return std::move(call_); }

 private:
  Bound call_;
};

/// A call for the end of a put or copy: then_call(fn<&function>, args...), or then_call(f2f(...)). The arguments are
/// converted and copied at once; what views and spans among them point to must stay until the future has settled.
template <class Callable, class... Args>
requires(!msg::is_bound_v<std::decay_t<Callable>> && !detail::sends_pointers<Callable, Args...>)
    [[nodiscard]] auto then_call(Callable&& callable, Args&&... args)
        -> call_then<bound_t<std::decay_t<Callable>, Args...>> {
  return call_then<bound_t<std::decay_t<Callable>, Args...>>(
      bind_call(static_cast<Callable&&>(callable), static_cast<Args&&>(args)...));
}
template <class Callable, class... Args, class HoldsPointer = detail::pointer_holder_of_call<Callable, Args...>>
requires(!msg::is_bound_v<std::decay_t<Callable>> && detail::sends_pointers<Callable, Args...>)
    [[nodiscard]] HAM_WARN_OF_POINTERS auto then_call(Callable&& callable, Args&&... args)
        -> call_then<bound_t<std::decay_t<Callable>, Args...>> {
  return call_then<bound_t<std::decay_t<Callable>, Args...>>(
      bind_call(static_cast<Callable&&>(callable), static_cast<Args&&>(args)...));
}
template <class Callable, class... Params>
[[nodiscard]] auto then_call(bound<Callable, Params...> functor) -> call_then<bound<Callable, Params...>> {
  return call_then<bound<Callable, Params...>>(std::move(functor));
}

namespace detail {

/// How the bytes of a put get to the node of a call before it.
enum class bytes_go : std::uint8_t {
  nowhere,        ///< the call has failed: its slot is made
  ahead,          ///< they are there
  in_message,     ///< with the call
  by_themselves,  ///< by a transfer of their own, which the call has to wait for
};
/// Decides, and writes those that the calling thread can write at once. Sets what `data` needs for in_message, and `to`
/// to the process that has the memory: not one in its place. Throws ham::node_failure, ham::call_error.
[[nodiscard]] bytes_go put_before_call(engine& at, destination& to, const element& of, brought_bytes& data,
                                       call_slot*& failed);

/// A slot for the result of a call behind a transfer with `to`, which is set to that process, under this runtime: an
/// error that nobody reads is told as that of `verb`.
[[nodiscard]] call_slot* make_slot_behind(engine& at, operation verb, destination& to);

/// Sends a call when a transfer has settled, and hands its result on. Owns itself.
template <class Bound>
class call_after_transfer : continuation {
 public:
  using result = typename Bound::result_type;
  [[nodiscard]] static future<result> begin(engine& at, operation verb, future<void> transfer, destination to,
                                            Bound call) {
    call_slot* const target = make_slot_behind(at, verb, to);
    auto* const made = new call_after_transfer(std::move(transfer), to, std::move(call), *target);
    future_access::on_settled(made->transfer_, made);
    return future_access::make<result>(target);
  }

 private:
  call_after_transfer(future<void> transfer, const destination& to, Bound call, call_slot& target)
      : continuation{&send, nullptr},
        transfer_(std::move(transfer)),
        to_(to),
        call_(std::move(call)),
        target_(target) {}

  static void send(continuation* self) {
    auto& me = *static_cast<call_after_transfer*>(self);
    std::exception_ptr why = me.transfer_.error();
    if (why == nullptr) {
      HAM_TRY { me.answer_ = start_call<Bound>(me.to_, when_full::wait, me.call_); }
      HAM_CATCH_ALL { why = std::current_exception(); }
    }
    if (why != nullptr) {
      me.fail(std::move(why));
      return;
    }
    me.run = &hand_on;
    future_access::on_settled(me.answer_, &me);
  }
  static void hand_on(continuation* self) {
    auto& me = *static_cast<call_after_transfer*>(self);
    if (std::exception_ptr why = me.answer_.error(); why != nullptr) {
      me.fail(std::move(why));
      return;
    }
    fulfil<result>(me.target_, [&me]() -> result { return me.answer_.get(); });
    delete &me;
  }
  void fail(std::exception_ptr why) noexcept {
    fail_local(target_, std::move(why));
    delete this;
  }

  future<void> transfer_;
  const destination to_;
  const Bound call_;
  call_slot& target_;
  future<result> answer_;
};

/// put of `data` to the node of `to`, then the call there.
template <class Bound>
[[nodiscard]] future<typename Bound::result_type> put_then_call(destination to, brought_bytes data, element of,
                                                                Bound call) {
  using result = typename Bound::result_type;
  using plan = call_plan<Bound>;
  engine& at = engine_for(to);
  call_slot* slot = nullptr;
  if constexpr (plan::valid) {
    switch (put_before_call(at, to, of, data, slot)) {
      case bytes_go::nowhere: break;
      case bytes_go::ahead: return start_call<Bound>(to, when_full::wait, call);
      case bytes_go::in_message:
        plan::with(
            [&](const auto& core, const auto&... values) {
              slot = bringing_message<typename plan::call::message>::send(at, to, &slot_value<result>::decode, data,
                                                                          core, values...);
            },
            call);
        break;
      case bytes_go::by_themselves:
        return call_after_transfer<Bound>::begin(at, operation::put,
                                                 put_bytes(at, data.from, to.node, {data.address, data.tag}, data.size,
                                                           of, {moved_by::anyone, to.deadline_ns}),
                                                 to, std::move(call));
    }
  } else {
    [[maybe_unused]] typename plan::report error;
  }
  return future_access::make<result>(slot);
}

}  // namespace detail

/// As put, and calls a function on the node when the bytes are there. The future is that of the call; if the bytes
/// cannot be written it fails with what put fails with, and nothing is called. `src` must stay until it has settled.
/// Nobody waits in between: where the node's memory is mapped, small blocks are written by the caller, and the call
/// follows; elsewhere up to 64 KiB travel in the message of the call. The call of a larger block is sent by the thread
/// that makes progress on this node, when the transfer is over (docs/thread-model.md). Blocks and throws as async.
/// `to` is a destination on the node of `dst`: a deadline for all of it, a runtime, or a context that executes the
/// call; as for put to a destination (transfer.hpp). Without one it is the node, under the calling thread's runtime.
template <detail::transferable Element, class Bound>
future<typename Bound::result_type> put(destination to, const std::type_identity_t<Element>* src,
                                        buffer_ptr<Element> dst, std::size_t count, call_then<Bound> then) {
  detail::require_node_of(to, dst.node(), dst.node());
  return detail::put_then_call<Bound>(
      to, {dst.address(), dst.tag(), reinterpret_cast<const std::byte*>(src), detail::bytes_for<Element>(count), 0},
      detail::element_of<Element>(), std::move(then).call());
}
template <detail::transferable Element, class Bound>
future<typename Bound::result_type> put(const std::type_identity_t<Element>* src, buffer_ptr<Element> dst,
                                        std::size_t count, call_then<Bound> then) {
  return offload::put(destination(dst.node()), src, dst, count, std::move(then));
}

/// As copy, and calls a function on the node of `dst` when the bytes are there. The call is sent by the thread that
/// makes progress on this node. Else as put with a call.
template <class Element, class Bound>
requires detail::transferable<std::remove_const_t<Element>> future<typename Bound::result_type> copy(
    destination to, buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, std::size_t count,
    call_then<Bound> then) {
  detail::require_node_of(to, dst.node(), dst.node());
  detail::engine& at = detail::engine_for(to);
  return detail::call_after_transfer<Bound>::begin(
      at, operation::copy,
      detail::copy_bytes(at, src.node(), detail::raw(src), dst.node(), detail::raw(dst),
                         detail::bytes_for<Element>(count), detail::element_of<std::remove_const_t<Element>>(),
                         {detail::moved_by::anyone, to.deadline_ns}),
      to, std::move(then).call());
}
template <class Element, class Bound>
requires detail::transferable<std::remove_const_t<Element>> future<typename Bound::result_type> copy(
    buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, std::size_t count, call_then<Bound> then) {
  return offload::copy(destination(dst.node()), src, dst, count, std::move(then));
}

}  // namespace ham::offload
