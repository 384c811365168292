#include "runtime/repeatable_call.hpp"

#include <atomic>
#include <cstring>
#include <new>

#include "ham/error_info.hpp"
#include "ham/offload/detail/handle_check.hpp"
#include "runtime/engine.hpp"
#include "runtime/stop_with_caller.hpp"

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

void list_repeated(call_slot& future, const repeatable_call& call) {
  engine* const at = future.owner;
  if (at == nullptr) return;
  static std::atomic<std::uint64_t> made{0};
  future.position = ham::detail::repeated_calls::mark | ++made << 8U;
  at->repeated.add(future, *call.function);
  ham::detail::stop_with_caller(*at, future);
}

void note_sent(const call_slot& future, const call_slot& call) noexcept {
  engine* const at = future.owner;
  if (at == nullptr) return;
  const std::uint32_t id = call.id.load(std::memory_order_relaxed);
  if (const auto how = at->repeated.sent(future, id)) at->stop_call(id, *how);
}

bool is_stopped(const call_slot& future) noexcept {
  const engine* const at = future.owner;
  return at != nullptr && at->repeated.is_stopped(future);
}

bool says_not_run(const std::exception_ptr& why) noexcept {
  try {
    return describe_error(why).outcome == call_outcome::not_run;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

void unlist_repeated(const call_slot& future) noexcept {
  if (engine* const at = future.owner) at->repeated.remove(future);
}

}  // namespace ham::offload::detail
