#include "runtime/repeatable_call.hpp"

#include <cstring>

#include "ham/offload/detail/handle_check.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload::detail {

call_slot* send_repeatable(engine& at, const call_place& where, const repeatable_call& call, when_full policy) {
  call_room room;
  if (begin_call(at, where, *call.function, call.message.size(), call.decode, policy, room)) {
    ham::detail::reservation out(room);
    if (ham::detail::handles_may_be_old.load(std::memory_order_relaxed))
      for (const node_t process : call.handles) ham::detail::refuse_handle_of(at, process);
    if (!call.message.empty()) std::memcpy(room.data, call.message.data(), call.message.size());
    finish_call(at, out.release());
  }
  return room.slot;
}

}  // namespace ham::offload::detail
