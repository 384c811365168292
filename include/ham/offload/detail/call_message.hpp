// The message of an offloaded call: how a call of one type is encoded here and executed there. Internal.
//
// Paper 3, Fig. 3: the functor's type instantiates an active message whose handler restores the type, runs the
// function and sends its result back.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/msg/call_layout.hpp"
#include "ham/msg/callable.hpp"
#include "ham/msg/codec.hpp"
#include "ham/msg/embedded_pointers.hpp"
#include "ham/msg/f2f.hpp"
#include "ham/msg/handler.hpp"
#include "ham/msg/signature.hpp"
#include "ham/offload/detail/address_check.hpp"
#include "ham/offload/detail/engine_api.hpp"
#include "ham/offload/detail/handle_check.hpp"

namespace ham::inline v1::detail {

/// Decodes the arguments of a call, runs it and answers. What it throws is answered by whoever called it.
using call_body = void (*)(incoming_call& call);

/// A received call as its execution policy sees it: what all types of calls share. Copying it makes it independent of
/// the buffer it arrived in.
class received_call_base {
 public:
  explicit received_call_base(incoming_call& call) noexcept : call_(&call) {}
  received_call_base(const received_call_base& other);
  received_call_base(received_call_base&& other) noexcept
      : call_(other.call_), kept_(std::exchange(other.kept_, nullptr)) {}
  received_call_base& operator=(const received_call_base&) = delete;
  received_call_base& operator=(received_call_base&&) = delete;
  ~received_call_base() {
    if (kept_ != nullptr) give_up();
  }

 protected:
  void run(call_body body);

 private:
  struct kept;
  void run_kept(call_body body);
  void give_up() noexcept;

  incoming_call* call_;
  kept* kept_ = nullptr;  // owned
};

/// What a policy runs on the receiver.
template <call_body Body>
class received_call : public received_call_base {
 public:
  using received_call_base::received_call_base;
  void operator()() { run(Body); }
};

/// Answers with a value.
template <class Result>
void reply_value(incoming_call& call, const Result& result) {
  if (!wants_reply(call)) return;
  const std::size_t size = msg::encoded_size(result);
  reply_room room;
  begin_reply(call, size, room);
  reservation reply(room);
  msg::writer to(room.data, size);
  msg::encode(to, result);
  to.expect_full();
  finish_reply(call, reply.release());
}

/// Asked before a node runs a callable in its process; throws what is against it. Of those that hold functions of
/// devices there is one of its own (device_message.hpp).
template <class Callable>
struct admission {
  static void check(const incoming_call& /*call*/) noexcept {}
};

/// The call that arrives, once its arguments are decoded: made with all of them as temporaries, in the order in which
/// they were sent. It is made by its constructor, because braces keep that order.
template <class Callable, class Result, class... Params>
struct decoded_call {
  explicit decoded_call(incoming_call& call, msg::reader& from, msg::decode_result_t<Callable>&& callable,
                        msg::decode_result_t<Params>&&... values) {
    from.expect_end();
    call.decoded = true;
    admission<Callable>::check(call);
    if constexpr (std::is_void_v<Result>) {
      callable(static_cast<msg::decode_result_t<Params>&&>(values)...);
      if (wants_reply(call)) reply_nothing(call);
    } else {
      const Result result = static_cast<Result>(callable(static_cast<msg::decode_result_t<Params>&&>(values)...));
      reply_value<Result>(call, result);
    }
  }
};

template <class Tag, template <class> class Policy, class Callable, class Result, class... Params>
struct call_message;

/// The handler of a call under its policy. The direct one adds nothing: the body is the handler.
template <template <class> class Policy, call_body Body>
struct handler_under {
  static void run(void* buffer) {
    received_call<Body> call(*static_cast<incoming_call*>(buffer));
    Policy<received_call<Body>>::handler(&call);
  }
};
template <call_body Body>
struct handler_under<msg::execution_policy_direct, Body> {
  static void run(void* buffer) { Body(*static_cast<incoming_call*>(buffer)); }
};

/// Encodes and sends one call. Its slot, if it has got one, also where it was not sent (begin_call).
template <class Message, class Callable, class... Params>
[[gnu::always_inline]] inline call_slot* send_message(engine& at, const call_place& where, result_decoder decode,
                                                      when_full policy, const Callable& callable,
                                                      const Params&... values) {
  const std::size_t bytes = Message::size(callable, values...);
  call_room room;
  if (begin_call(at, where, Message::entry(), bytes, decode, policy, room)) [[likely]] {
    reservation message(room);
    refuse_old_handles(at, callable, values...);
    msg::writer to(room.data, bytes);
    Message::encode(to, callable, values...);
    to.expect_full();
    finish_call(at, message.release());
  }
  return room.slot;
}

/// Registration of the handler and encoding of the arguments.
template <class Tag, template <class> class Policy, class Callable, class Result, class... Params>
struct call_message {
  static constexpr bool is_function = msg::is_fn_v<Callable>;  // nothing of it travels

  static void body(incoming_call& call) {
    msg::reader from(call.payload);
    if constexpr (is_function) {
      if constexpr (msg::fixed_pack_v<Params...>) from.require(msg::fixed_pack_size_v<Params...>);
      decoded_call<Callable, Result, Params...>{call, from, Callable{}, msg::decode<Params>(from)...};
    } else {
      decoded_call<Callable, Result, Params...>{call, from, msg::decode<Callable>(from), msg::decode<Params>(from)...};
    }
  }

  // What handler_registrar asks for.
  using tag = Tag;
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static constexpr std::size_t message_size() noexcept { return 0; }
  static void handler(void* buffer) { handler_under<Policy, &body>::run(buffer); }
  static std::string layout() { return msg::call_layout<Callable, Result, Params...>(); }

  [[nodiscard]] static msg::handler_entry& entry() noexcept { return msg::handler_registrar<call_message>::entry(); }

  [[nodiscard]] static constexpr std::size_t size(const Callable& callable, const Params&... values) {
    if constexpr (is_function)
      return (std::size_t{0} + ... + msg::encoded_size(values));
    else
      return (msg::encoded_size(callable) + ... + msg::encoded_size(values));
  }
  static void encode([[maybe_unused]] msg::writer& to, [[maybe_unused]] const Callable& callable,
                     const Params&... values) {
    if constexpr (!is_function) msg::encode(to, callable);
    (msg::encode(to, values), ...);
  }

  static call_slot* send(engine& at, const call_place& where, result_decoder decode, when_full policy,
                         const Callable& callable, const Params&... values) {
#if HAM_CHECK_ADDRESSES
    check_addresses(at, where, callable, values...);
#endif
    return send_message<call_message>(at, where, decode, policy, callable, values...);
  }
};

template <class Value, std::size_t Index>
using parameter_report =
    typename std::conditional_t<msg::crosses<Value>, std::type_identity<msg::detail::nothing_to_report_at<Index>>,
                                msg::crossing_error<Value, msg::place_of_argument(Index)>>::type;
template <class Result>
using result_report = typename std::conditional_t<
    msg::crosses_back<Result>, std::type_identity<msg::detail::nothing_to_report>,
    std::conditional_t<msg::detail::is_view_v<Result>, std::type_identity<msg::result_cannot_cross<Result>>,
                       msg::crossing_error<Result, msg::place_of_result>>>::type;

/// Why a callable cannot cross. Of an aggregate it can be said which member is to blame.
template <class Callable>
using callable_report =
    typename std::conditional_t<std::is_aggregate_v<Callable> || !msg::detail::reasons_not_to_cross<Callable>::other,
                                msg::crossing_error<Callable, msg::place_of_callable>,
                                std::type_identity<msg::callable_cannot_cross<Callable>>>::type;

/// What cannot cross of a call is told by instantiating this.
template <class Callable, class Result, class Indices, class... Params>
struct crossing_report;
template <class Callable, class Result, std::size_t... Index, class... Params>
struct crossing_report<Callable, Result, std::index_sequence<Index...>, Params...>
    : result_report<Result>, parameter_report<Params, Index>... {};
template <class Callable, class Result, std::size_t... Index, class... Params>
requires(!msg::is_fn_v<Callable> &&
         !msg::crosses<Callable>) struct crossing_report<Callable, Result, std::index_sequence<Index...>, Params...>
    : callable_report<Callable> {
};

template <class Callable, class Result, std::size_t... Index, class... Params>
requires(msg::detail::is_mere_address<Callable>()) struct crossing_report<Callable, Result,
                                                                          std::index_sequence<Index...>, Params...>
    : msg::captures_address<Callable> {
};

template <class Callable, class Result, class... Params>
inline constexpr bool can_cross = (msg::is_fn_v<Callable> ||
                                   (msg::crosses<Callable> && !msg::detail::is_mere_address<Callable>())) &&
                                  msg::crosses_back<Result> && (msg::crosses<Params> && ...);

/// The message of a call of Callable (as the user gave it, wrappers included) with these decayed parameters.
template <class Callable, class... Params>
struct call_of {
  using core = msg::core_type_t<Callable>;
  using result = typename msg::detail::signature_core<core, Params...>::result_type;
  static constexpr bool valid = can_cross<core, result, Params...>;
  /// Of what crosses by its bytes, the first that holds a pointer; void if none does.
  using pointer_holder = typename msg::detail::first_pointer_holder<core, Params..., result>::type;
  using report = crossing_report<core, result, std::index_sequence_for<Params...>, Params...>;
  using message =
      call_message<msg::tag_for<Callable, Params...>, msg::policy_of<Callable>::template type, core, result, Params...>;
};

/// An argument as its parameter type: itself if it is one, else converted.
template <class Param, class Arg>
[[nodiscard]] decltype(auto) as_parameter(Arg&& arg) {
  if constexpr (std::is_same_v<std::remove_cvref_t<Arg>, Param>)
    return static_cast<const Param&>(arg);
  else
    return static_cast<Param>(static_cast<Arg&&>(arg));
}

/// How a call of Callable with these arguments is sent, if it is `valid`; else an object of type `report` makes the
/// compiler say why not.
template <class Callable, class Parameters, class... Args>
struct call_plan_of;
template <class Callable, class... Params, class... Args>
struct call_plan_of<Callable, std::tuple<Params...>, Args...> {
  using call = call_of<Callable, Params...>;
  static constexpr bool valid = call::valid;
  using pointer_holder = typename call::pointer_holder;
  using report = typename call::report;

  static call_slot* send(engine& at, const call_place& where, result_decoder decode, when_full policy,
                         const Callable& callable, Args&&... args) {
    return call::message::send(at, where, decode, policy, msg::core_of(callable),
                               as_parameter<Params>(static_cast<Args&&>(args))...);
  }
  /// Calls use(core callable, parameters...).
  template <class Use>
  static void with(Use&& use, const Callable& callable, Args&&... args) {
    use(msg::core_of(callable), as_parameter<Params>(static_cast<Args&&>(args))...);
  }
};

template <class Report>
struct no_plan {
  static constexpr bool valid = false;
  using pointer_holder = void;
  using report = Report;
};

template <class Callable, class... Args>
using signature_of_call = msg::detail::signature_core<msg::core_type_t<Callable>, Args...>;

template <class Callable, class... Args>
struct call_plan
    : std::conditional_t<signature_of_call<Callable, Args...>::valid,
                         call_plan_of<Callable, typename signature_of_call<Callable, Args...>::parameters, Args...>,
                         no_plan<typename signature_of_call<Callable, Args...>::report>> {
  using result_type = typename signature_of_call<Callable, Args...>::result_type;
};

/// A functor made by f2f has its arguments already.
template <std::size_t More>
struct bound_report {
  static_assert(More == 0, "ham: a functor made by f2f has its arguments already");
};
template <class Callable, class... Params, class... Args>
struct call_plan<bound<Callable, Params...>, Args...> {
  using result_type = typename bound<Callable, Params...>::result_type;
  using call = call_of<Callable, Params...>;
  using pointer_holder = typename call::pointer_holder;
  static constexpr bool bindable = signature_of_call<Callable, Params...>::valid;  // else f2f has told why not
  static constexpr bool valid = bindable && call::valid && sizeof...(Args) == 0;
  using report =
      std::conditional_t<sizeof...(Args) != 0, bound_report<sizeof...(Args)>,
                         std::conditional_t<bindable, typename call::report, msg::detail::nothing_to_report>>;

  static call_slot* send(engine& at, const call_place& where, result_decoder decode, when_full policy,
                         const bound<Callable, Params...>& functor) {
    return send_values(at, where, decode, policy, functor, std::index_sequence_for<Params...>{});
  }
  template <class Use>
  static void with(Use&& use, const bound<Callable, Params...>& functor) {
    std::apply([&](const Params&... values) { use(msg::core_of(functor.callable()), values...); }, functor.arguments());
  }

 private:
  template <std::size_t... Index>
  static call_slot* send_values(engine& at, const call_place& where, result_decoder decode, when_full policy,
                                const bound<Callable, Params...>& functor, std::index_sequence<Index...>) {
    return call::message::send(at, where, decode, policy, msg::core_of(functor.callable()),
                               std::get<Index>(functor.arguments())...);
  }
};

/// What a call of this callable with these arguments returns.
template <class Callable, class... Args>
using result_of_call_t = typename call_plan<std::decay_t<Callable>, Args...>::result_type;

/// Of what a call sends or returns by its bytes, the first type that holds a pointer; void if none does.
template <class Callable, class... Args>
using pointer_holder_of_call = typename call_plan<std::decay_t<Callable>, Args...>::pointer_holder;
template <class Callable, class... Args>
concept sends_pointers = !std::is_void_v<pointer_holder_of_call<Callable, Args...>>;

}  // namespace ham::detail
