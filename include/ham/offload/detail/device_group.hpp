// The message of a call of a group whose function devices execute: on a node with a device it runs there, on others as
// any function. Internal.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ham/offload/detail/device_message.hpp"
#include "ham/offload/detail/group_message.hpp"

namespace ham::inline v1::detail {

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
    : group_message_form<Op, fn_t<Pointer, Function>, Result, Params...>,
      device_entry<group_message<Tag, Policy, Op, fn_t<Pointer, Function>, Result, Params...>,
                   device::detail::declared_function<Pointer, Function>> {
  using tag = Tag;
  using declared = device::detail::declared_function<Pointer, Function>;

  static void handler(void* buffer) { handle_device_call<Policy, &on_device, &on_host>(buffer); }

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
};

}  // namespace ham::detail
