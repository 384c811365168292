// The message of a call of a group whose function devices execute: on a node with a device it runs there, on others as
// any function. Internal.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ham/msg/presence.hpp"
#include "ham/offload/detail/device_message.hpp"
#include "ham/offload/detail/group_message.hpp"

namespace ham::inline v0::detail {

/// The call as a node with a device has it executed, once all of the message is decoded; see decoded_group_call.
template <class Message, class Op, class Result, class... Params>
struct device_group_call {
  device_group_call(incoming_call& call, const group_head& head, std::span<const std::byte> arguments,
                    msg::reader& from, Op&& op, msg::decode_result_t<Params>&&... values) {
    from.expect_end();
    call.decoded = true;
    late_group_part& part =
        late_group_part::start(call, head, {Message::entry(), arguments}, make_group_merge<Result>(std::move(op)));
    HAM_TRY {  // what it has begun may have ended when this returns
      device_call<Result, Params...>{part.call(), Message::declared::entry(), from,
                                     placed(head, static_cast<msg::decode_result_t<Params>&&>(values))...};
    }
    HAM_CATCH_ALL { part.fail(); }
  }
};

/// As the general one, which executes calls on nodes without a device.
template <class Tag, template <class> class Policy, class Op, class Pointer, Pointer Function, class Result,
          class... Params>
requires(device::detail::declaration<Pointer, Function>::is_declared) struct group_message<
    Tag, Policy, Op, fn_t<Pointer, Function>, Result, Params...>
    : group_message_form<Op, fn_t<Pointer, Function>, Result, Params...> {
  using tag = Tag;
  using declared = device::detail::declared_function<Pointer, Function>;

  /// A device has no use for the policy, which is about threads of the host.
  static void handler(void* buffer) {
    auto& call = *static_cast<incoming_call*>(buffer);
    if (has_device(call))
      on_device(call);
    else
      handler_under<Policy, &on_host>::run(buffer);
  }
  [[nodiscard]] static msg::handler_entry& entry() noexcept {
    static_cast<void>(declared::entry());
    static_cast<void>(static_cast<const void*>(&presence_set));
    return msg::handler_registrar<group_message>::entry();
  }

 private:
  static void on_host(incoming_call& call) {
    run_group_call<group_message, Op, device::detail::host_version<Pointer, Function>, Result, Params...>(call);
  }
  static void on_device(incoming_call& call) {
    msg::reader from(call.payload);
    const group_head head = group_head::read(from);
    const std::span<const std::byte> arguments = call.payload.last(from.remaining());
    device_group_call<group_message, Op, Result, Params...>{
        call, head, arguments, from, decode_group_callable<Op>(from), msg::decode<Params>(from)...};
  }

  /// Whether the device of this process, if there is one, has a version of the function.
  static bool is_present() { return device_has(declared::entry()); }
  static inline const bool presence_set =
      msg::set_presence(msg::handler_registrar<group_message>::entry(), &is_present);
};

}  // namespace ham::detail
