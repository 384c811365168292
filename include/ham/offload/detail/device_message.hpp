// The message of a call of a device function: on a node with a device it runs there, on others as any function.
// Internal.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/device/offloading.hpp"
#include "ham/msg/bind.hpp"
#include "ham/msg/callable.hpp"
#include "ham/msg/idempotent.hpp"
#include "ham/msg/presence.hpp"
#include "ham/offload/detail/call_message.hpp"

namespace ham::inline v1::device::detail {

/// The version of a device function that nodes without a device call.
template <class Pointer, Pointer Function>
struct host_version {
  template <class... Args>
  constexpr decltype(auto) operator()(Args&&... args) const {
    return Function(static_cast<Args&&>(args)...);
  }
};

}  // namespace ham::device::detail

namespace ham::inline v1::msg {

namespace detail {
template <class Pointer, Pointer Function>
inline constexpr bool is_fn_v<device::detail::host_version<Pointer, Function>> = true;
}  // namespace detail
template <class Pointer, Pointer Function>
inline constexpr bool is_fn_v<device::detail::host_version<Pointer, Function>> = true;

}  // namespace ham::msg

namespace ham::inline v1::detail {

/// Whether a callable has been made of a function that devices execute: what it calls in turn, a device does not see.
template <class Callable>
inline constexpr bool holds_device_function = false;
template <class Pointer, Pointer Function>
inline constexpr bool holds_device_function<fn_t<Pointer, Function>> =
    device::detail::declaration<Pointer, Function>::is_declared;
template <msg::key_text Key, class Callable>
inline constexpr bool holds_device_function<named_callable<Key, Callable>> = holds_device_function<Callable>;
template <template <class> class Policy, class Callable>
inline constexpr bool holds_device_function<policy_callable<Policy, Callable>> = holds_device_function<Callable>;
template <class Callable>
inline constexpr bool holds_device_function<idempotent_callable<Callable>> = holds_device_function<Callable>;
template <class Callable, class... Values>
inline constexpr bool holds_device_function<binding<Callable, Values...>> = (holds_device_function<Callable> || ... ||
                                                                             holds_device_function<Values>);

/// On a node with a device the processor would execute the function, with addresses that only the device reaches.
template <class Callable, class... Values>
requires holds_device_function<binding<Callable, Values...>>
struct admission<binding<Callable, Values...>> {
  static void check(const incoming_call& call) {
    if (has_device(call)) refuse_holder(call);
  }
};

/// Whether values of a parameter are the same bytes in messages and on a device, and any value is as good as another
/// one for who receives it.
template <class Type>
consteval bool is_same_on_device() {
  if constexpr (std::is_arithmetic_v<Type> || std::is_enum_v<Type> ||
                msg::detail::kind_of<Type>() == msg::detail::codec_kind::bitwise) {
    if constexpr (msg::fixed_size_v<Type>)
      return msg::fixed_encoded_size_v<Type> == sizeof(Type) && !holds_memory_handles<Type>;
  }
  return false;
}

/// Hands a call over once its arguments are decoded: as decoded_call (call_message.hpp).
template <class Result, class... Params>
struct device_call {
  device_call(incoming_call& call, const device::detail::function_entry& function, msg::reader& from,
              msg::decode_result_t<Params>&&... values) {
    from.expect_end();
    call.decoded = true;
    const std::tuple<Params...> arguments(static_cast<Params>(values)...);
    device::detail::argument_writer counted(nullptr);
    put_all(counted, arguments);
    run_on_device(call, {&function, counted.size(), &write, &arguments, &answer, &place});
  }

 private:
  static void put_all(device::detail::argument_writer& to, const std::tuple<Params...>& arguments) {
    std::apply([&](const Params&... one) { (to.put(one), ...); }, arguments);
  }
  static void write(std::byte* bytes, const void* arguments) {
    device::detail::argument_writer to(bytes);
    put_all(to, *static_cast<const std::tuple<Params...>*>(arguments));
  }
  static std::size_t place(const void* arguments, std::size_t parameter, std::size_t size) {
    device::detail::argument_writer counted(nullptr);
    std::size_t found = no_place;
    std::size_t number = 0;
    const auto pass = [&]<class Param>(const Param& one) {
      counted.put(one);
      if (number++ == parameter && is_same_on_device<Param>() && sizeof one == size) found = counted.size() - size;
    };
    std::apply([&](const Params&... one) { (pass(one), ...); }, *static_cast<const std::tuple<Params...>*>(arguments));
    return found;
  }
  static void answer(incoming_call& call, [[maybe_unused]] const std::byte* result) {
    if constexpr (std::is_void_v<Result>) {
      if (wants_reply(call)) reply_nothing(call);
    } else {
      alignas(Result) std::byte bytes[sizeof(Result)];
      std::memcpy(bytes, result, sizeof bytes);
      reply_value<Result>(call, *reinterpret_cast<const Result*>(bytes));
    }
  }
};

/// The base of a message of calls of a device function: registers its handler as one that processes may have no version
/// of. `Declared`: the device::detail::declared_function.
template <class Message, class Declared>
struct device_entry {
  [[nodiscard]] static msg::handler_entry& entry() noexcept {
    static_cast<void>(Declared::entry());
    static_cast<void>(static_cast<const void*>(&presence_set));
    return msg::handler_registrar<Message>::entry();
  }
  /// Whether the device of this process, if there is one, has a version of the function.
  static bool is_present() { return device_has(Declared::entry()); }

 private:
  static inline const bool presence_set = msg::set_presence(msg::handler_registrar<Message>::entry(), &is_present);
};

/// The handler of such a message. A device has no use for the policy, which is about threads of the host.
template <template <class> class Policy, call_body OnDevice, call_body OnHost = OnDevice>
void handle_device_call(void* buffer) {
  auto& call = *static_cast<incoming_call*>(buffer);
  if (has_device(call))
    OnDevice(call);
  else
    handler_under<Policy, OnHost>::run(buffer);
}

/// As the general one, which executes calls on nodes without a device.
template <class Tag, template <class> class Policy, class Pointer, Pointer Function, class Result, class... Params>
requires(device::detail::declaration<Pointer, Function>::is_declared) struct call_message<
    Tag, Policy, fn_t<Pointer, Function>, Result, Params...>
    : device_entry<call_message<Tag, Policy, fn_t<Pointer, Function>, Result, Params...>,
                   device::detail::declared_function<Pointer, Function>> {
  using callable = fn_t<Pointer, Function>;
  using on_host = call_message<Tag, Policy, device::detail::host_version<Pointer, Function>, Result, Params...>;
  using declared = device::detail::declared_function<Pointer, Function>;
  static constexpr bool is_function = true;

  // What handler_registrar asks for.
  using tag = Tag;
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static constexpr std::size_t message_size() noexcept { return 0; }
  static void handler(void* buffer) { handle_device_call<Policy, &body, &on_host::body>(buffer); }
  /// The handler of calls with another body.
  template <call_body Body>
  static void handle(void* buffer) {
    handle_device_call<Policy, Body>(buffer);
  }
  /// Of calls that bring bytes along as well (bringing_message.hpp).
  static void body(incoming_call& call) {
    if (!has_device(call)) {
      on_host::body(call);
      return;
    }
    msg::reader from(call.payload);
    device_call<Result, Params...>{call, declared::entry(), from, msg::decode<Params>(from)...};
  }
  static std::string layout() { return msg::call_layout<callable, Result, Params...>(); }

  [[nodiscard]] static constexpr std::size_t size(const callable&, const Params&... values) {
    return (std::size_t{0} + ... + msg::encoded_size(values));
  }
  static void encode([[maybe_unused]] msg::writer& to, const callable&, const Params&... values) {
    (msg::encode(to, values), ...);
  }

  static call_slot* send(engine& at, const call_place& where, result_decoder decode, when_full policy,
                         const callable& called, const Params&... values) {
    return send_message<call_message>(at, where, decode, policy, called, values...);
  }
};

}  // namespace ham::detail
