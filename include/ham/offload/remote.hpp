// Objects on other nodes: made there, called through a handle, destroyed with it (paper 3: remote objects).
//
//   auto solver = offload::make<cg_solver>(1, matrix_size);  // constructed on node 1
//   double norm = solver.call<&cg_solver::step>(0.1);        // runs there
//   auto later = solver.async<&cg_solver::step>(0.1);
//   offload::sync(1, fn<&cg_solver::step>, solver, 0.1);     // the same as a call with a destination
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/error.hpp"
#include "ham/msg/codec.hpp"
#include "ham/msg/signature.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/detail/late_answer.hpp"
#include "ham/offload/detail/object_space.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1::offload {

/// Names an object of a node: copied freely, sent to any node, owns nothing. Calls through it fail with
/// ham::object_error if the object was destroyed, lives on another node or is of another type.
template <class Object>
class remote_ref {
 public:
  using element_type = Object;  ///< also a base, or const

  constexpr remote_ref() noexcept = default;
  /// All parts; for bindings.
  constexpr remote_ref(node_t node, ham::detail::object_id id) noexcept
      : node_(node), number_(id.number), tag_(id.tag) {}
  /// The same object as one of its bases.
  template <class Derived>
  requires(!std::is_same_v<Derived, Object> && std::is_convertible_v<Derived*, Object*>)
      // NOLINTNEXTLINE(google-explicit-constructor): as pointers do
      constexpr remote_ref(const remote_ref<Derived>& other) noexcept
      : remote_ref(other.node(), other.id()) {}

  /// Where it lives; -1 for a handle of nothing.
  [[nodiscard]] constexpr node_t node() const noexcept { return node_; }
  [[nodiscard]] constexpr ham::detail::object_id id() const noexcept { return {number_, tag_}; }
  explicit constexpr operator bool() const noexcept { return number_ != 0; }

  /// Calls a member function of the object where it lives and waits for its result; the arguments are those of the
  /// function. Throws as offload::sync.
  template <auto Method, class... Args>
  auto call(Args&&... args) const {
    return offload::sync(node_, fn<Method>, *this, static_cast<Args&&>(args)...);
  }
  /// The same with a future, as offload::async.
  template <auto Method, class... Args>
  [[nodiscard]] auto async(Args&&... args) const {
    return offload::async(node_, fn<Method>, *this, static_cast<Args&&>(args)...);
  }

  /// On the object's own node: the object itself, for functions that are given a handle. It must not be destroyed
  /// meanwhile. Throws ham::object_error.
  [[nodiscard]] Object& local() const {
    return ham::detail::object_as<std::remove_const_t<Object>>(ham::detail::find_object(node_, id()));
  }

  [[nodiscard]] friend bool operator==(const remote_ref& left, const remote_ref& right) noexcept {
    return left.node_ == right.node_ && left.id() == right.id();
  }

  HAM_FIELDS(node_, number_, tag_)

 private:
  node_t node_ = -1;
  std::uint64_t number_ = 0;
  std::uint64_t tag_ = 0;
};

namespace detail {
struct remote_access;
}

/// Owns an object of a node, which is destroyed with it. Movable. It belongs to the runtime that it was made under, or
/// that its destination named, whatever runtime its calls and its end find. The destructor waits for the node as that
/// of offload::buffer does, and gives a node up that does not answer. Calls that use the object when it is destroyed go
/// on to their end.
template <class Object>
class remote {
 public:
  using element_type = Object;  ///< what the object is used as

  remote() noexcept = default;
  /// Takes the ownership of what another owner has released, for the calling thread's runtime. Throws
  /// ham::config_error if there is none.
  explicit remote(remote_ref<Object> what) : remote(what, ham::detail::serial_of(ham::detail::current())) {}
  remote(remote&& other) noexcept : ref_(other.release()), runtime_(other.runtime()) {}
  template <class Derived>
  requires(!std::is_same_v<Derived, Object> && std::is_convertible_v<Derived*, Object*>)
      // NOLINTNEXTLINE(google-explicit-constructor): as std::unique_ptr does
      remote(remote<Derived>&& other)
  noexcept : ref_(other.release()), runtime_(other.runtime()) {}
  remote& operator=(remote&& other) noexcept {
    if (this != &other) {
      reset();
      ref_ = other.release();
      runtime_ = other.runtime();
    }
    return *this;
  }
  ~remote() { reset(); }

  /// The handle, for arguments and other nodes; owns nothing. Of nothing after reset(), release() or a move.
  [[nodiscard]] remote_ref<Object> ref() const noexcept { return ref_; }
  // NOLINTNEXTLINE(google-explicit-constructor): an owner may stand where its handle is asked for
  operator remote_ref<Object>() const noexcept { return ref_; }
  /// Where it lives; -1 if this owns nothing.
  [[nodiscard]] node_t node() const noexcept { return ref_.node(); }
  /// Its node, in its runtime: sync(within(r.where(), 1s), fn<&solver::step>, r, dt).
  [[nodiscard]] destination where() const noexcept { return {ref_.node(), 0, runtime_}; }
  /// The number of that runtime; for bindings.
  [[nodiscard]] std::uint64_t runtime() const noexcept { return runtime_; }
  explicit operator bool() const noexcept { return static_cast<bool>(ref_); }

  /// As those of remote_ref, in the runtime of this object.
  template <auto Method, class... Args>
  auto call(Args&&... args) const {
    return offload::sync(where(), fn<Method>, ref_, static_cast<Args&&>(args)...);
  }
  template <auto Method, class... Args>
  [[nodiscard]] auto async(Args&&... args) const {
    return offload::async(where(), fn<Method>, ref_, static_cast<Args&&>(args)...);
  }

  /// Destroys the object now. Errors are ignored.
  void reset() noexcept {
    const remote_ref<Object> what = release();
    if (what) static_cast<void>(ham::detail::destroy_at_end(runtime_, what.node(), what.id()));
  }
  /// The same, and waits for no node longer than `limit`, whether it is stopped or busy. False: it was given up, and
  /// destroys the object by itself when it comes to it, of which a line on stderr tells.
  template <class Rep, class Period>
  bool reset(std::chrono::duration<Rep, Period> limit) noexcept {
    const remote_ref<Object> what = release();
    return !what || ham::detail::destroy_at_end(runtime_, what.node(), what.id(), detail::nanoseconds_of(limit));
  }
  /// Gives the object up without destroying it: it lives until destroy(), or until its node's runtime ends.
  remote_ref<Object> release() noexcept { return std::exchange(ref_, {}); }

 private:
  friend struct detail::remote_access;
  remote(remote_ref<Object> what, std::uint64_t runtime) noexcept : ref_(what), runtime_(runtime) {}

  remote_ref<Object> ref_;
  std::uint64_t runtime_ = 0;
};

/// Makes an owner of all its parts, for the library.
struct detail::remote_access {
  template <class Object>
  [[nodiscard]] static offload::remote<Object> make(remote_ref<Object> what, std::uint64_t runtime) noexcept {
    return {what, runtime};
  }
};

}  // namespace ham::offload

namespace ham::inline v1::detail {

template <class Handle>
inline constexpr bool is_object_handle_v = false;
template <class Object>
inline constexpr bool is_object_handle_v<offload::remote_ref<Object>> = true;
template <class Object>
inline constexpr bool is_object_handle_v<offload::remote<Object>> = true;

/// What is called on the object's node. Params are the decayed parameters of the member function.
template <auto Method, class Object, class Result, class... Params>
Result call_method(const offload::remote_ref<Object>& of, Params... values) {
  const object_hold held = find_object(of.node(), of.id());
  Object& object = object_as<std::remove_const_t<Object>>(held);
  return static_cast<Result>((object.*Method)(static_cast<Params&&>(values)...));
}

template <auto Method, class Object, class Shape>
struct method_function;
template <auto Method, class Object, class Result, class Owner, class... Params>
struct method_function<Method, Object, msg::detail::call_shape<Result, Owner, Params...>> {
  static_assert((msg::detail::can_cross_by_value<Params> && ...),
                "ham: a parameter of this member function is a non-const reference; what it changes would stay on the "
                "other node: take the parameter by value or const&, and return what has changed");
  static_assert(std::is_base_of_v<std::remove_cvref_t<Owner>, Object>,
                "ham: the handle's type does not have this member function: neither its own nor of a base");
  static constexpr auto address = &call_method<Method, Object, std::remove_cvref_t<Result>, std::decay_t<Params>...>;
  using type = fn_t<std::remove_const_t<decltype(address)>, address>;
};

template <auto Method, class Handle>
using method_on = typename method_function<
    Method, typename std::remove_cvref_t<Handle>::element_type,
    typename msg::detail::shape_of<fn_t<std::remove_const_t<decltype(Method)>, Method>>::type>::type;

/// A member function called with a handle as first argument: the function above, called with the same arguments.
template <class Pointer, Pointer Method, class Handle, class... Args>
requires(std::is_member_function_pointer_v<Pointer>&&
             is_object_handle_v<std::remove_cvref_t<Handle>>) struct call_plan<fn_t<Pointer, Method>, Handle, Args...>
    : call_plan<method_on<Method, Handle>, offload::remote_ref<typename std::remove_cvref_t<Handle>::element_type>,
                Args...> {
  using reference = offload::remote_ref<typename std::remove_cvref_t<Handle>::element_type>;
  using plan = call_plan<method_on<Method, Handle>, reference, Args...>;

  static call_slot* send(engine& at, const call_place& where, result_decoder decode, when_full policy,
                         const fn_t<Pointer, Method>&, const reference& of, Args&&... args) {
    if (!of) throw_no_object();
    return plan::send(at, where, decode, policy, {}, reference(of), static_cast<Args&&>(args)...);
  }
  template <class Use>
  static void with(Use&& use, const fn_t<Pointer, Method>&, const reference& of, Args&&... args) {
    if (!of) throw_no_object();
    plan::with(static_cast<Use&&>(use), {}, reference(of), static_cast<Args&&>(args)...);
  }
};

/// Arguments of constructors as they are sent: literals as strings, owners as handles.
template <class Decayed>
struct constructor_argument {
  using type = Decayed;
};
template <>
struct constructor_argument<const char*> {
  using type = std::string;
};
template <>
struct constructor_argument<char*> {
  using type = std::string;
};
template <class Object>
struct constructor_argument<offload::remote<Object>> {
  using type = offload::remote_ref<Object>;
};
template <class Arg>
using constructor_argument_t = typename constructor_argument<std::decay_t<Arg>>::type;

template <class Object, class... Params>
offload::remote_ref<Object> construct_object(Params... values) {
  std::shared_ptr<Object> made;
  if constexpr (std::is_constructible_v<Object, Params&&...>)
    made = std::make_shared<Object>(static_cast<Params&&>(values)...);
  else
    made.reset(new Object{static_cast<Params&&>(values)...});
  return {offload::this_node(), keep_object(std::move(made), object_type_of<Object>)};
}

}  // namespace ham::detail

namespace ham::inline v1::offload {

namespace detail {

template <class Object, class... Args>
[[nodiscard]] offload::remote<Object> make_unless(const std::stop_token* token, const destination& to, Args&&... args) {
  const std::uint64_t runtime = ham::detail::serial_of(ham::detail::engine_for(to));
  const auto destroy = [to, runtime](remote_ref<Object> late) {
    ham::detail::destroy_late({to.node, 0, runtime}, late.id());
  };
  return remote_access::make(
      ham::detail::sync_or_undo_unless(
          token, to, destroy, fn<&ham::detail::construct_object<Object, ham::detail::constructor_argument_t<Args>...>>,
          static_cast<Args&&>(args)...),
      runtime);
}

}  // namespace detail

/// Constructs an Object from the arguments on a node, and owns it from here. Blocking. What the constructor throws is
/// thrown here; else throws as sync. Arguments are sent like those of calls, string literals as std::string, owners as
/// their handles. At the deadline of `to`, if it has one, throws ham::deadline_exceeded; an object that the node makes
/// nevertheless is destroyed when its answer comes. If there is no memory here for the answer, the object may have been
/// made, and lives until its node's runtime ends. Any number of calls may use an object at the same time, if the node
/// executes several (contexts, pooled, nested calls): the object locks what it must.
template <class Object, class... Args>
[[nodiscard]] remote<Object> make(destination to, Args&&... args) {
  return detail::make_unless<Object>(nullptr, to, static_cast<Args&&>(args)...);
}
/// The same; the token of `to` takes the request out of a queue, here or on the node: then throws
/// ham::operation_cancelled, `not_run`. A constructor that has begun is told (this_call::stop_token()) and waited for.
template <class Object, class... Args>
[[nodiscard]] remote<Object> make(const stoppable_destination& to, Args&&... args) {
  return detail::make_unless<Object>(&to.token(), to.where(), static_cast<Args&&>(args)...);
}

/// The same with a future, which owns the object once it is made: objects are constructed on several nodes at once.
/// With a deadline an object that comes late is not destroyed, and lives until its node's runtime ends: make() does
/// that. Discarded, it waits, and destroys the object again; after detach() the object is destroyed when it is there.
/// If this throws for want of memory or of futures, the object may have been made, and lives until its node's runtime
/// ends.
template <class Object, class... Args>
[[nodiscard]] future<remote<Object>> make_async(destination to, Args&&... args) {
  const std::uint64_t runtime = ham::detail::serial_of(ham::detail::engine_for(to));
  return async(to, fn<&ham::detail::construct_object<Object, ham::detail::constructor_argument_t<Args>...>>,
               static_cast<Args&&>(args)...)
      .then([runtime](remote_ref<Object> made) { return detail::remote_access::make(made, runtime); });
}
/// The same; the token of `to` as for make().
template <class Object, class... Args>
[[nodiscard]] future<remote<Object>> make_async(const stoppable_destination& to, Args&&... args) {
  const std::uint64_t runtime = ham::detail::serial_of(ham::detail::engine_for(to.where()));
  // With when_stopped::at_once nobody would own an object that is made all the same.
  return async(stoppable_destination(to.where(), to.token(), when_stopped::after_answer),
               fn<&ham::detail::construct_object<Object, ham::detail::constructor_argument_t<Args>...>>,
               static_cast<Args&&>(args)...)
      .then([runtime](remote_ref<Object> made) { return detail::remote_access::make(made, runtime); });
}

/// Destroys what remote::release() has given up. Blocking. Throws ham::object_error if it was destroyed already, and
/// as sync.
template <class Object>
void destroy(remote_ref<Object> what) {
  ham::detail::destroy_object(what.node(), what.id());
}
/// The same with what `to` says beside the node, which is the handle's: within(node, 1s) is a deadline.
template <class Object>
void destroy(destination to, remote_ref<Object> what) {
  to.node = what.node();
  ham::detail::destroy_object(to, what.id());
}

}  // namespace ham::offload
